"""What acts on the migration machine, its gates and its devices may do."""

from typing import Final

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn

from stacks.constructs.accept import accept_executions
from stacks.constructs.access import Access
from stacks.constructs.step_lambda import StepLambda
from stacks.constructs.work_queue import WorkQueue
from stacks.data import Data
from stacks.deployment import Deployment
from statemachine.groups.migration import CHILDREN

ANSWERS: Final = ("states:SendTaskSuccess", "states:SendTaskFailure", "states:SendTaskHeartbeat")


def token_owners(machine: sfn.StateMachine) -> list[str]:
    """The machine, and the one that its child executions run as: both hand out task tokens."""
    return [machine.state_machine_arn, f"{machine.state_machine_arn}/{CHILDREN}"]


def may_answer_gates(step: Access, data: Data, machine: sfn.StateMachine) -> None:
    """Let it decide a gate: seal the oracles and return the token."""
    step.records(data.table)
    step.reads(data.bucket, "jobs")
    step.writes(data.bucket, "jobs", "sealed")
    step.may(ANSWERS, *token_owners(machine))


def may_run(step: StepLambda, machine: sfn.StateMachine) -> None:
    """Let it start and stop jobs."""
    step.may(["states:StartExecution"], machine.state_machine_arn)
    stack = Stack.of(machine)
    name = stack.split_arn(machine.state_machine_arn, ArnFormat.COLON_RESOURCE_NAME).resource_name
    executions = stack.format_arn(
        service="states",
        resource="execution",
        resource_name=f"{name}:*",
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
    step.may(["states:StopExecution", "states:DescribeExecution"], executions)
    accept_executions(step.role, "any job may be cancelled", machine, ":*")


def may_mail(step: StepLambda, deployment: Deployment) -> None:
    """Let it send mail from the sender, verified as an address or by its domain."""
    stack = Stack.of(step)
    sender = deployment.mail_sender
    step.may(
        ["ses:SendEmail"],
        *(
            stack.format_arn(service="ses", resource="identity", resource_name=name)
            for name in (sender, sender.partition("@")[2])
        ),
    )


def may_work(worker: Access, data: Data, queue: sqs.IQueue, machine: sfn.StateMachine) -> None:
    """Let it take device work, run it against the sealed seed, and report."""
    worker.may(
        ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility"],
        queue.queue_arn,
    )
    worker.records(data.table)
    worker.reads(data.bucket, "jobs", "sealed")
    worker.writes(data.bucket, "jobs")
    worker.may(ANSWERS, *token_owners(machine))


def may_redrive(step: Access, *queues: WorkQueue) -> None:
    """Let it move dead letters back to their queues."""
    step.may(
        ["sqs:ReceiveMessage", "sqs:DeleteMessage"],
        *(each.dead_letters.queue_arn for each in queues),
    )
    step.may(["sqs:SendMessage"], *(each.queue.queue_arn for each in queues))
