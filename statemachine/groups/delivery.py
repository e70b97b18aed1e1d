"""Write the patch, offer it, and end the job."""

from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from statemachine.groups.endings import Endings
from statemachine.parts import Part, fork, state
from statemachine.tasks import JOB, Calls, step


def emitted(scope: Construct, calls: Calls, end: Endings) -> Part:
    """Go on if at least one kernel was accepted."""
    return fork(
        scope,
        "Accepted",
        state(step(scope, calls, "emit_diff", JOB, trouble=end.trouble)),
        good=sfn.Condition.number_greater_than("$.emit_diff.accepted", 0),
        otherwise=end.because(
            "NothingAccepted",
            {"outcome": "nothing_accepted", "reason.$": "$.emit_diff.reason"},
        ),
    )


def delivered(scope: Construct, calls: Calls, end: Endings) -> Part:
    """Go on if the patch was taken."""
    return fork(
        scope,
        "Delivered",
        state(step(scope, calls, "deliver", JOB, trouble=end.trouble)),
        good=sfn.Condition.string_equals("$.deliver.outcome", "delivered"),
        otherwise=end.because(
            "NotDelivered", {"outcome": "failed", "reason.$": "$.deliver.reason"}
        ),
    )


def done(end: Endings) -> Part:
    """End a job that went all the way."""
    return state(end.because("AllDone", {"outcome": "delivered", "reason.$": "$.deliver.reason"}))
