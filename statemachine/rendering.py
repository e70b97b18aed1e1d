"""The machine as ASL, with the ARNs of an account that is only an example."""

import json
from typing import Any

from aws_cdk import App, Stack, assertions
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn

from statemachine import retries
from statemachine.pipeline import migration_job
from statemachine.tasks import STEPS, Calls, title

ACCOUNT, REGION = "123456789012", "us-east-1"
PSEUDO = {
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::AccountId": ACCOUNT,
    "AWS::Region": REGION,
}


def imported_calls(stack: Stack) -> Calls:
    """Everything the machine calls, by ARN, in an account that is only an example."""

    def queue(name: str) -> sqs.IQueue:
        return sqs.Queue.from_queue_arn(stack, name, f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}")

    def function(step: str) -> lambda_.IFunction:
        arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{step}"
        return lambda_.Function.from_function_arn(stack, f"{title(step)}Function", arn)

    return Calls(
        steps={step: function(step) for step in STEPS},
        device_queue=queue("device"),
        gate_queue=queue("gate"),
    )


def definition() -> dict[str, Any]:
    """Render the machine."""
    stack = Stack(App(), "Rendered")
    sfn.StateMachine(
        stack,
        "MigrationJob",
        definition_body=migration_job(stack, imported_calls(stack)),
        timeout=retries.JOB_TIMEOUT,
    )
    machines = assertions.Template.from_stack(stack).find_resources(
        "AWS::StepFunctions::StateMachine"
    )
    (machine,) = machines.values()
    rendered: dict[str, Any] = json.loads(_joined(machine["Properties"]["DefinitionString"]))
    return rendered


def text() -> str:
    """Render the machine as the checked-in file holds it."""
    return json.dumps(definition(), indent=2) + "\n"


def _joined(value: Any) -> str:
    if isinstance(value, str):
        return value
    if "Ref" in value:
        return PSEUDO[value["Ref"]]
    separator, parts = value["Fn::Join"]
    return str(separator).join(_joined(part) for part in parts)
