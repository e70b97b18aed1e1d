"""The device worker: one container on each instance, as many as the queue needs."""

from collections.abc import Mapping

from aws_cdk import Duration, RemovalPolicy, Size
from aws_cdk import aws_applicationautoscaling as appscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.constructs.accept import accept
from stacks.constructs.access import Access
from stacks.constructs.capacity import DeviceCapacity
from stacks.constructs.network import ClosedNetwork
from stacks.constructs.step_lambda import METRICS
from stacks.deployment import Deployment

MEMORY = Size.gibibytes(24)
"""More than half of a trn1.2xlarge, so that no two workers share its device."""
STOP = Duration.minutes(2)
"""A worker asked to stop hands its message back; the next one starts it anew."""


class DeviceWorker(Construct, Access):
    """``role`` is what the worker's own process may do; a candidate has no credentials at all."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        deployment: Deployment,
        network: ClosedNetwork,
        capacity: DeviceCapacity,
        environment: Mapping[str, str],
    ) -> None:
        super().__init__(scope, name)
        self.role = iam.Role(
            self, "Role", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com")
        )
        self._most = deployment.most_workers
        self._log_group = logs.LogGroup(
            self,
            "Logs",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.canary_failed = self._counted("CanaryFailed", "canary failed")
        task = ecs.Ec2TaskDefinition(
            self, "Task", network_mode=ecs.NetworkMode.AWS_VPC, task_role=self.role
        )
        self._container(task, deployment, environment)
        self.service = ecs.Ec2Service(
            self,
            "Service",
            cluster=capacity.cluster,
            task_definition=task,
            desired_count=0,
            min_healthy_percent=0,
            max_healthy_percent=100,
            security_groups=[network.workers],
            capacity_provider_strategies=[
                ecs.CapacityProviderStrategy(
                    capacity_provider=capacity.provider.capacity_provider_name, weight=1
                )
            ],
            circuit_breaker=ecs.DeploymentCircuitBreaker(rollback=True),
        )

    def follow(self, waiting: cloudwatch.IMetric) -> None:
        """Run workers for the messages there are, waiting or under way, and none for none."""
        count = self.service.auto_scale_task_count(min_capacity=0, max_capacity=self._most)
        steps = [appscaling.ScalingInterval(upper=0, change=0)]
        steps += [
            appscaling.ScalingInterval(lower=4**more, change=more + 1) for more in range(self._most)
        ]
        count.scale_on_metric(
            "Waiting",
            metric=waiting,
            scaling_steps=steps,
            adjustment_type=appscaling.AdjustmentType.EXACT_CAPACITY,
            evaluation_periods=1,
            cooldown=Duration.minutes(10),
        )

    @property
    def running(self) -> cloudwatch.Metric:
        """How many workers run."""
        return cloudwatch.Metric(
            namespace="ECS/ContainerInsights",
            metric_name="RunningTaskCount",
            dimensions_map={
                "ClusterName": self.service.cluster.cluster_name,
                "ServiceName": self.service.service_name,
            },
            statistic="Maximum",
            label="workers",
        )

    def _counted(self, name: str, said: str) -> cloudwatch.Metric:
        """Count the worker's log lines that say so: it needs no right to put metrics."""
        counted = logs.MetricFilter(
            self,
            name,
            log_group=self._log_group,
            filter_pattern=logs.FilterPattern.any_term(f'"{said}"'),
            metric_namespace=METRICS,
            metric_name=name,
        )
        return counted.metric(statistic="Sum")

    def _container(
        self, task: ecs.Ec2TaskDefinition, deployment: Deployment, environment: Mapping[str, str]
    ) -> None:
        """Run the image of ``trn_worker/Dockerfile`` that the account's repository holds."""
        repository = ecr.Repository.from_repository_name(
            self, "Repository", deployment.worker_repository
        )
        container = task.add_container(
            "Worker",
            image=ecs.ContainerImage.from_ecr_repository(repository, deployment.worker_tag),
            memory_reservation_mib=MEMORY.to_mebibytes(),
            environment=dict(environment),
            logging=ecs.LogDrivers.aws_logs(stream_prefix="worker", log_group=self._log_group),
            linux_parameters=self._linux(),
            stop_timeout=STOP,
        )
        container.add_ulimits(
            ecs.Ulimit(name=ecs.UlimitName.NOFILE, soft_limit=65536, hard_limit=65536)
        )
        accept(task, "names and addresses, no secrets; the template has to show them", "ECS2")
        accept(
            task,
            "ECR hands out its login token for no resource in particular",
            "IAM5[Resource::*]",
        )

    def _linux(self) -> ecs.LinuxParameters:
        """Give the device, and the one capability that raising the sandbox's walls takes.

        Children drop it, with every other, before anything of a candidate runs.
        """
        linux = ecs.LinuxParameters(self, "Linux", init_process_enabled=True)
        permissions = [ecs.DevicePermission.READ, ecs.DevicePermission.WRITE]
        linux.add_devices(ecs.Device(host_path="/dev/neuron0", permissions=permissions))
        linux.add_capabilities(ecs.Capability.SYS_ADMIN)
        return linux
