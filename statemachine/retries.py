"""How often and how long the machine waits and tries: the only file that knows these numbers.

Error names come from the error tree's classes. An error that trying again cannot help is listed
first with no attempt; anything nobody named is tried twice more, because a runtime may report
trouble under a class name of its own (a killed sandbox, an import that failed).
"""

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_stepfunctions as sfn

from nkiport.contracts.errors import Rejected, Retryable, wire_names

# https://docs.aws.amazon.com/step-functions/latest/dg/bp-lambda-serviceexception.html
LAMBDA_SERVICE_ERRORS: Final = [
    "Lambda.AWSLambdaException",
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.SdkClientException",
    "Lambda.ServiceException",
    "Lambda.TooManyRequestsException",
]
# A missed heartbeat is one or the other, depending on who executes the machine.
TIME_OUTS: Final = ["States.HeartbeatTimeout", "States.Timeout"]

STEP_TIMEOUT: Final = Duration.minutes(15)
"""A Lambda's longest life."""
DEVICE_TIMEOUT: Final = Duration.hours(2)
DEVICE_HEARTBEAT: Final = Duration.minutes(30)
"""Counts from the moment the message is queued, so it covers a device that has to be started."""
GATE_TIMEOUT: Final = Duration.hours(72)
JOB_TIMEOUT: Final = Duration.days(15)
"""A day more than the longest deadline a job may ask for; the deadline itself is Plan's."""
BENCH_POLL: Final = Duration.seconds(30)
BENCH_TIMEOUT: Final = Duration.hours(24)
MOST_TURNS: Final = 51
"""Plan decides when to stop, at 50 turns at the latest; the machine itself goes no further."""
KERNELS_AT_ONCE: Final = 8


def of_steps(task: sfn.TaskStateBase) -> None:
    """Retry a Lambda step: never what was refused, patiently what was busy, else twice."""
    task.add_retry(errors=wire_names(Rejected), max_attempts=0)
    task.add_retry(
        errors=[*LAMBDA_SERVICE_ERRORS, *wire_names(Retryable)],
        interval=Duration.seconds(2),
        backoff_rate=2,
        max_attempts=5,
        max_delay=Duration.minutes(1),
        jitter_strategy=sfn.JitterType.FULL,
    )
    task.add_retry(errors=["States.TaskFailed"], interval=Duration.seconds(1), max_attempts=2)


def of_devices(task: sfn.TaskStateBase) -> None:
    """Retry device work: a worker that fell silent or reported trouble gets two successors."""
    task.add_retry(errors=wire_names(Rejected), max_attempts=0)
    task.add_retry(
        errors=[*TIME_OUTS, "States.TaskFailed"],
        interval=Duration.seconds(5),
        backoff_rate=2,
        max_attempts=2,
    )


def of_gates(task: sfn.TaskStateBase) -> None:
    """Retry putting the question on the queue; a gate nobody answers is not asked again."""
    task.add_retry(errors=TIME_OUTS, max_attempts=0)
    task.add_retry(errors=["States.TaskFailed"], interval=Duration.seconds(2), max_attempts=3)
