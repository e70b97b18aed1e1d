"""A network that leads nowhere but to the AWS services a worker needs: there is no internet in it.

Candidates are hostile code; a hole in the sandbox would still find nobody to talk to.
"""

from typing import Final

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.constructs.accept import accept

SERVICES: Final = {
    "Ecs": ec2.InterfaceVpcEndpointAwsService.ECS,
    "EcsAgent": ec2.InterfaceVpcEndpointAwsService.ECS_AGENT,
    "EcsTelemetry": ec2.InterfaceVpcEndpointAwsService.ECS_TELEMETRY,
    "Ecr": ec2.InterfaceVpcEndpointAwsService.ECR,
    "EcrDocker": ec2.InterfaceVpcEndpointAwsService.ECR_DOCKER,
    "Logs": ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS,
    "Monitoring": ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_MONITORING,
    "Sqs": ec2.InterfaceVpcEndpointAwsService.SQS,
    "States": ec2.InterfaceVpcEndpointAwsService.STEP_FUNCTIONS,
}
"""What a container instance and a worker call; the bucket and the table have gateways."""


class ClosedNetwork(Construct):
    """``vpc`` and ``workers``, the security group of the instances: out by HTTPS, in by nothing."""

    def __init__(self, scope: Construct, name: str) -> None:
        super().__init__(scope, name)
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            max_azs=2,
            subnet_configuration=[
                ec2.SubnetConfiguration(
                    name="Workers", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=24
                )
            ],
            gateway_endpoints={
                "S3": ec2.GatewayVpcEndpointOptions(service=ec2.GatewayVpcEndpointAwsService.S3),
                "DynamoDb": ec2.GatewayVpcEndpointOptions(
                    service=ec2.GatewayVpcEndpointAwsService.DYNAMODB
                ),
            },
        )
        self._record_flows()
        self.workers = ec2.SecurityGroup(
            self,
            "WorkerGroup",
            vpc=self.vpc,
            description="nkiport workers: HTTPS to AWS services",
            allow_all_outbound=False,
        )
        self.workers.add_egress_rule(
            ec2.Peer.any_ipv4(), ec2.Port.tcp(443), "AWS services; nothing else is routed"
        )
        self._open_services()

    def _record_flows(self) -> None:
        log_group = logs.LogGroup(
            self,
            "Flows",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.vpc.add_flow_log(
            "FlowLog", destination=ec2.FlowLogDestination.to_cloud_watch_logs(log_group)
        )

    def _open_services(self) -> None:
        doors = ec2.SecurityGroup(
            self,
            "EndpointGroup",
            vpc=self.vpc,
            description="nkiport endpoints: HTTPS from workers",
            allow_all_outbound=False,
        )
        doors.add_ingress_rule(self.workers, ec2.Port.tcp(443), "workers")
        for name, service in SERVICES.items():
            self.vpc.add_interface_endpoint(
                name, service=service, security_groups=[doors], open=False
            )
        accept(doors, "the only source is the workers' security group", "EC23")
