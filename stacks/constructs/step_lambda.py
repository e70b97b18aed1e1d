"""The one construct that every Lambda function is made with."""

from collections.abc import Mapping
from typing import Final

from aws_cdk import AssetHashType, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.constructs.accept import accept
from stacks.constructs.access import Access
from stacks.constructs.code import code
from stacks.constructs.steps import SPECS, LayerName
from stacks.deployment import Deployment
from stacks.layers import digest
from statemachine.tasks import title

METRICS: Final = "nkiport"
"""The namespace of what steps and workers count."""


class StepLambda(Construct, Access):
    """A function: ``lambdas/<step>``, what that imports, its layers, and what it may touch."""

    def __init__(
        self,
        scope: Construct,
        step: str,
        *,
        deployment: Deployment,
        known: Mapping[str, str],
    ) -> None:
        """``known`` holds the value of every setting its stack can give."""
        super().__init__(scope, title(step))
        spec = SPECS[step]
        log_group = logs.LogGroup(
            self,
            "Logs",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log_group.grant_write(self.role)
        self.function = lambda_.Function(
            self,
            "Function",
            description=f"nkiport step {step}",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            handler=f"lambdas.{step}.handler.handler",
            code=code(step, spec.data),
            layers=[_layer(scope, name, deployment) for name in spec.layers],
            environment={name: known[name] for name in spec.settings}
            | _powertools(step, deployment),
            timeout=Duration.seconds(spec.seconds),
            memory_size=spec.memory_mb,
            tracing=lambda_.Tracing.ACTIVE,
            log_group=log_group,
            role=self.role,
        )
        accept(self.function, "3.13 is what the layers' wheels are built and tested for", "L1")
        accept(self.role, "X-Ray has no resources to name", "IAM5[Resource::*]")


def step_lambdas(scope: Construct) -> list[StepLambda]:
    """Every function under a construct."""
    return [child for child in scope.node.find_all() if isinstance(child, StepLambda)]


def _layer(scope: Construct, name: LayerName, deployment: Deployment) -> lambda_.LayerVersion:
    """One layer for each stack: a version shared across stacks could never be replaced."""
    existing = scope.node.try_find_child(f"{title(name)}Layer")
    if isinstance(existing, lambda_.LayerVersion):
        return existing
    return lambda_.LayerVersion(
        scope,
        f"{title(name)}Layer",
        code=lambda_.Code.from_asset(
            str(deployment.layers / name),
            asset_hash=digest(name, deployment.layers.name),
            asset_hash_type=AssetHashType.CUSTOM,
        ),
        compatible_runtimes=[lambda_.Runtime.PYTHON_3_13],
        compatible_architectures=[lambda_.Architecture.ARM_64],
        description=f"nkiport {name} wheels",
    )


def _powertools(step: str, deployment: Deployment) -> dict[str, str]:
    return {
        "POWERTOOLS_SERVICE_NAME": step,
        "POWERTOOLS_METRICS_NAMESPACE": METRICS,
        "POWERTOOLS_TRACE_DISABLED": "false" if deployment.tracing else "true",
    }
