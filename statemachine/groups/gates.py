"""The two questions a person answers."""

from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from nkiport.contracts.jobs import GateName
from statemachine.groups.endings import Endings
from statemachine.parts import Part, fork, state
from statemachine.tasks import Calls, gate, title


def approval(scope: Construct, calls: Calls, end: Endings, name: GateName) -> Part:
    """Go on if a person approved in time."""
    expired = end.because(
        f"{title(name)}Expired",
        {"outcome": "gate_expired", "reason": f"nobody answered the {name} gate in time"},
    )
    return fork(
        scope,
        f"{title(name)}Approved",
        state(gate(scope, calls, name, expired=expired, trouble=end.trouble)),
        good=sfn.Condition.string_equals(f"$.{name}.decision", "approved"),
        otherwise=end.because(
            f"{title(name)}Rejected",
            {"outcome": "gate_rejected", "reason": f"a person rejected the {name} gate"},
        ),
    )
