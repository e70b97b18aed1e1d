"""The machines as ASL, with the ARNs of an account that is only an example."""

import json
from collections.abc import Callable
from typing import Any

from aws_cdk import App, Duration, Stack, assertions
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn

from statemachine import retries
from statemachine.benchmark import benchmark
from statemachine.pipeline import migration_job
from statemachine.tasks import BENCH_STEPS, STEPS, Calls, title

ACCOUNT, REGION = "123456789012", "us-east-1"
PSEUDO = {
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::AccountId": ACCOUNT,
    "AWS::Region": REGION,
}


def migration_job_definition() -> dict[str, Any]:
    """Render ``MigrationJob``."""
    return _definition(migration_job, retries.JOB_TIMEOUT)


def benchmark_definition() -> dict[str, Any]:
    """Render ``Benchmark``."""
    return _definition(benchmark, retries.BENCH_TIMEOUT)


def text(definition: dict[str, Any]) -> str:
    """Write a machine as its checked-in file holds it."""
    return json.dumps(definition, indent=2) + "\n"


def _definition(
    body: Callable[[Stack, Calls], sfn.DefinitionBody], timeout: Duration
) -> dict[str, Any]:
    stack = Stack(App(), "Rendered")
    definition = body(stack, _imported_calls(stack))
    sfn.StateMachine(stack, "Machine", definition_body=definition, timeout=timeout)
    machines = assertions.Template.from_stack(stack).find_resources(
        "AWS::StepFunctions::StateMachine"
    )
    (machine,) = machines.values()
    rendered: dict[str, Any] = json.loads(_joined(machine["Properties"]["DefinitionString"]))
    return rendered


def _imported_calls(stack: Stack) -> Calls:
    """Everything the machines call, by ARN, in an account that is only an example."""

    def queue(name: str) -> sqs.IQueue:
        return sqs.Queue.from_queue_arn(stack, name, f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}")

    def function(step: str) -> lambda_.IFunction:
        arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{step}"
        return lambda_.Function.from_function_arn(stack, f"{title(step)}Function", arn)

    return Calls(
        steps={step: function(step) for step in (*STEPS, *BENCH_STEPS)},
        device_queue=queue("device"),
        gate_queue=queue("gate"),
    )


def _joined(value: Any) -> str:
    if isinstance(value, str):
        return value
    if "Ref" in value:
        return PSEUDO[value["Ref"]]
    separator, parts = value["Fn::Join"]
    return str(separator).join(_joined(part) for part in parts)
