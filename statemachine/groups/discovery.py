"""Read the source and walk it."""

from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from statemachine.groups.endings import Endings
from statemachine.parts import Part, fork, state
from statemachine.tasks import JOB, Calls, step


def discovery(scope: Construct, calls: Calls, end: Endings) -> Part:
    """Go on if kernels were found."""
    return fork(
        scope,
        "Found",
        state(step(scope, calls, "discover", JOB, trouble=end.trouble)),
        good=sfn.Condition.string_equals("$.discover.outcome", "found"),
        otherwise=end.because(
            "NothingToDo",
            {"outcome.$": "$.discover.outcome", "reason.$": "$.discover.reason"},
        ),
    )
