"""A state machine that logs every event but no data, and is traced."""

from collections.abc import Iterable

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from stacks.constructs.accept import accept, accept_executions, accept_under


class Machine(Construct):
    """``machine``, with its log group."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        definition: sfn.DefinitionBody,
        timeout: Duration,
        invokes: Iterable[lambda_.IFunction],
        children: str = "",
    ) -> None:
        super().__init__(scope, name)
        log_group = logs.LogGroup(
            self,
            "Logs",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.machine = sfn.StateMachine(
            self,
            "Machine",
            definition_body=definition,
            timeout=timeout,
            tracing_enabled=True,
            logs=sfn.LogOptions(destination=log_group, level=sfn.LogLevel.ALL),
        )
        accept(
            self.machine.role,
            "log delivery and X-Ray have no resources to name",
            "IAM5[Resource::*]",
        )
        for function in invokes:
            accept_under(self.machine.role, "any version of a step", function, ":*")
        if children:
            accept_executions(
                self.machine,
                "child executions get their names as the machine runs",
                self.machine,
                ":*",
                f"/{children}:*",
            )
