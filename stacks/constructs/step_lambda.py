"""The one construct that every Lambda function is made with."""

from collections.abc import Mapping, Sequence
from typing import Final

from aws_cdk import AssetHashType, Duration, RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from stacks.constructs.accept import accept, accept_under
from stacks.constructs.code import code
from stacks.constructs.steps import SPECS, LayerName
from stacks.deployment import Deployment
from stacks.layers import digest
from statemachine.tasks import title

TABLE_VERBS: Final = ("GetItem", "PutItem", "UpdateItem", "Query")


class StepLambda(Construct):
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

    def reads(self, bucket: s3.IBucket, *prefixes: str) -> None:
        """Let it read objects under the prefixes, and list them."""
        self._objects(["s3:GetObject"], bucket, prefixes)
        self.may(["s3:ListBucket"], bucket.bucket_arn)

    def writes(self, bucket: s3.IBucket, *prefixes: str) -> None:
        """Let it write objects under the prefixes."""
        self._objects(["s3:PutObject"], bucket, prefixes)

    def records(self, table: dynamodb.ITable, *, by_owner: bool = False) -> None:
        """Let it read and write the table, and an owner's list of jobs if asked for."""
        self.may([f"dynamodb:{verb}" for verb in TABLE_VERBS], table.table_arn)
        if by_owner:
            self.may(["dynamodb:Query"], f"{table.table_arn}/index/by_owner")

    def secret(self, secret: secretsmanager.ISecret) -> None:
        """Let it read a secret."""
        self.may(["secretsmanager:GetSecretValue"], secret.secret_arn)

    def may(self, actions: Sequence[str], *resources: str) -> None:
        """Let it do exactly this."""
        self.role.add_to_principal_policy(
            iam.PolicyStatement(actions=list(actions), resources=list(resources))
        )

    def _objects(self, actions: Sequence[str], bucket: s3.IBucket, prefixes: Sequence[str]) -> None:
        endings = [f"/{prefix}/*" for prefix in prefixes]
        self.may(actions, *(bucket.bucket_arn + ending for ending in endings))
        accept_under(self.role, "the objects of one prefix, and no others", bucket, *endings)


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
        "POWERTOOLS_METRICS_NAMESPACE": "nkiport",
        "POWERTOOLS_TRACE_DISABLED": "false" if deployment.tracing else "true",
    }
