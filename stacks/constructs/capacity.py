"""Trainium instances that exist only while there is work."""

from aws_cdk import Duration
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from stacks.constructs.accept import accept
from stacks.constructs.network import ClosedNetwork
from stacks.deployment import Deployment


class DeviceCapacity(Construct):
    """``cluster`` and ``provider``: from no instance to ``most_workers`` and back."""

    def __init__(
        self, scope: Construct, name: str, *, deployment: Deployment, network: ClosedNetwork
    ) -> None:
        super().__init__(scope, name)
        self.cluster = ecs.Cluster(
            self, "Cluster", vpc=network.vpc, container_insights_v2=ecs.ContainerInsights.ENABLED
        )
        group = autoscaling.AutoScalingGroup(
            self,
            "Instances",
            vpc=network.vpc,
            min_capacity=0,
            max_capacity=deployment.most_workers,
            launch_template=self._template(deployment, network),
            new_instances_protected_from_scale_in=True,
            notifications=[
                autoscaling.NotificationConfiguration(
                    topic=self._events(), scaling_events=autoscaling.ScalingEvents.ALL
                )
            ],
        )
        self.provider = ecs.AsgCapacityProvider(
            self,
            "Provider",
            auto_scaling_group=group,
            enable_managed_scaling=True,
            enable_managed_draining=True,
            enable_managed_termination_protection=True,
            target_capacity_percent=100,
            instance_warmup_period=Duration.minutes(5).to_seconds(),
        )
        self.cluster.add_asg_capacity_provider(self.provider)

    def _template(self, deployment: Deployment, network: ClosedNetwork) -> ec2.LaunchTemplate:
        """Instances with the Neuron driver, whose containers cannot reach the metadata service."""
        data = ec2.UserData.for_linux()
        data.add_commands("echo ECS_AWSVPC_BLOCK_IMDS=true >> /etc/ecs/ecs.config")
        return ec2.LaunchTemplate(
            self,
            "Template",
            machine_image=ecs.EcsOptimizedImage.amazon_linux2023(ecs.AmiHardwareType.NEURON),
            instance_type=ec2.InstanceType(deployment.worker_instance),
            security_group=network.workers,
            user_data=data,
            role=self._instance_role(),
            require_imdsv2=True,
            http_put_response_hop_limit=1,
            detailed_monitoring=True,
            block_devices=[
                ec2.BlockDevice(
                    device_name="/dev/xvda",
                    volume=ec2.BlockDeviceVolume.ebs(
                        200, encrypted=True, volume_type=ec2.EbsDeviceVolumeType.GP3
                    ),
                )
            ],
        )

    def _instance_role(self) -> iam.Role:
        """Take what the cluster grants the ECS agent; tasks have roles of their own."""
        role = iam.Role(self, "InstanceRole", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
        accept(
            role,
            "the ECS agent's own calls, as the CDK grants them: most have no resource to name",
            "IAM5[Action::ecs:Submit*]",
            "IAM5[Resource::*]",
        )
        return role

    def _events(self) -> sns.Topic:
        return sns.Topic(self, "Events", enforce_ssl=True)
