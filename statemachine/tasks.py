"""The three kinds of task: a Lambda step, work on the device queue, a question on the gate queue.

Every result lies under the step's own name (``$.discover``), so that what came in is still there
for what follows and for a handler of trouble, which finds Error and Cause under ``$.error``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import aws_stepfunctions_tasks as tasks
from constructs import Construct

from nkiport.contracts.jobs import GateName
from nkiport.contracts.steps import DeviceStep
from statemachine import retries

JOB: Final = {"job_id.$": "$.job_id"}
KERNEL: Final = JOB | {"kernel_id.$": "$.kernel_id"}
ITEM: Final = JOB | {"kernel_id.$": "$$.Map.Item.Value"}
TROUBLE: Final = {"error.$": "$.error"}
"""What a catch wrote, ``Error`` and ``Cause``; the edge puts it in words."""
STEPS: Final = (
    "discover", "assess", "plan", "generate", "judge", "end_kernel", "emit_diff", "deliver",
    "finish",
)  # fmt: skip
"""The steps of a job that are Lambdas; each has a folder under ``lambdas``."""
BENCH_STEPS: Final = ("bench_start", "bench_report")
"""Those of the benchmark."""


@dataclass(frozen=True)
class Calls:
    """What the machine calls. A test fills it with imported ARNs."""

    steps: Mapping[str, lambda_.IFunction]
    device_queue: sqs.IQueue
    gate_queue: sqs.IQueue


def title(step: str) -> str:
    """The state's name.

    >>> title("emit_diff")
    'EmitDiff'
    """
    return "".join(word.capitalize() for word in step.split("_"))


def step(
    scope: Construct,
    calls: Calls,
    name: str,
    request: Mapping[str, Any] | None = None,
    *,
    trouble: sfn.State | None = None,
) -> sfn.TaskStateBase:
    """Run a Lambda step on a request, or on its whole input if a state before it made that.

    What its retries cannot help goes to ``trouble``.
    """
    task = tasks.LambdaInvoke(
        scope,
        title(name),
        lambda_function=calls.steps[name],
        payload=None if request is None else sfn.TaskInput.from_object(dict(request)),
        payload_response_only=True,
        result_path=f"$.{name}",
        retry_on_service_exceptions=False,
        task_timeout=sfn.Timeout.duration(retries.STEP_TIMEOUT),
    )
    retries.of_steps(task)
    return task if trouble is None else task.add_catch(trouble, result_path="$.error")


def on_device(
    scope: Construct,
    calls: Calls,
    name: DeviceStep,
    attempt: Mapping[str, Any],
    *,
    trouble: sfn.State,
) -> sfn.TaskStateBase:
    """Put a ``DeviceTask`` on the device queue and wait for the worker's ``DeviceResult``."""
    task = tasks.SqsSendMessage(
        scope,
        title(name),
        queue=calls.device_queue,
        integration_pattern=sfn.IntegrationPattern.WAIT_FOR_TASK_TOKEN,
        message_body=sfn.TaskInput.from_object(
            {**KERNEL, **attempt, "step": name, "task_token": sfn.JsonPath.task_token}
        ),
        result_path=f"$.{name}",
        task_timeout=sfn.Timeout.duration(retries.DEVICE_TIMEOUT),
        heartbeat_timeout=sfn.Timeout.duration(retries.DEVICE_HEARTBEAT),
    )
    retries.of_devices(task)
    return task.add_catch(trouble, errors=retries.TIME_OUTS, result_path="$.error").add_catch(
        trouble, result_path="$.error"
    )


def gate(
    scope: Construct,
    calls: Calls,
    name: GateName,
    *,
    expired: sfn.State,
    trouble: sfn.State,
) -> sfn.TaskStateBase:
    """Put an ``OpenGateRequest`` on the gate queue and wait for a person's ``GateResult``."""
    task = tasks.SqsSendMessage(
        scope,
        f"{title(name)}Gate",
        queue=calls.gate_queue,
        integration_pattern=sfn.IntegrationPattern.WAIT_FOR_TASK_TOKEN,
        message_body=sfn.TaskInput.from_object(
            {
                **JOB,
                "gate": name,
                "task_token": sfn.JsonPath.task_token,
                "timeout_seconds": retries.GATE_TIMEOUT.to_seconds(),
            }
        ),
        result_path=f"$.{name}",
        task_timeout=sfn.Timeout.duration(retries.GATE_TIMEOUT),
    )
    retries.of_gates(task)
    return task.add_catch(expired, errors=retries.TIME_OUTS, result_path="$.error").add_catch(
        trouble, result_path="$.error"
    )
