"""Every way a job ends: each shapes its outcome, and its reason or error, for ``Finish``."""

from collections.abc import Mapping

from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from statemachine.tasks import JOB, TROUBLE, Calls, step


class Endings:
    """``Finish``, and the ways into it."""

    def __init__(self, scope: Construct, calls: Calls) -> None:
        self._scope = scope
        self._finish = step(scope, calls, "finish")
        self.trouble = self.because("JobTrouble", {"outcome": "failed"} | TROUBLE)

    def because(self, name: str, said: Mapping[str, str]) -> sfn.Pass:
        """End the job in a state of this name."""
        shaped = sfn.Pass(self._scope, name, parameters=JOB | dict(said))
        shaped.next(self._finish)
        return shaped
