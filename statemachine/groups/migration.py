"""The loop of one kernel: plan, generate, compile, verify, profile, judge, and again."""

from collections.abc import Mapping
from typing import Final

from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from nkiport.contracts.steps import DeviceStep
from statemachine import retries
from statemachine.parts import Part, fork, in_order, state
from statemachine.tasks import ITEM, KERNEL, TROUBLE, Calls, on_device, step

ATTEMPT: Final = {"attempt.$": "$.plan.attempt"}
CHILDREN: Final = "kernel"
"""The label of the child executions, part of their ARNs."""


def migration(scope: Construct, calls: Calls) -> Part:
    """Migrate each kernel of gate 2 in a child execution, which always ends with an outcome."""
    each = sfn.DistributedMap(
        scope,
        "MigrateKernels",
        items_path="$.requirements.kernels",
        item_selector=ITEM | {"turn": 1},
        map_execution_type=sfn.StateMachineType.STANDARD,
        max_concurrency=retries.KERNELS_AT_ONCE,
        label=CHILDREN,
        result_path=sfn.JsonPath.DISCARD,
    )
    each.item_processor(_Loop(scope, calls).begin())
    return state(each)


class _Loop:
    """What the states of one kernel share: the way out of trouble, and ``Judge``."""

    def __init__(self, scope: Construct, calls: Calls) -> None:
        self._scope = scope
        self._calls = calls
        self._end = self._end_kernel()
        self._trouble = self._shaped("KernelTrouble", {"outcome": "not_judged"} | TROUBLE)
        self._trouble.next(self._end)
        self._judge = self._step("judge", KERNEL | ATTEMPT)

    def begin(self) -> sfn.State:
        """Join the loop and return ``Plan``."""
        turn = in_order(
            self._plan(),
            self._generate(),
            self._device("compile", "Compiled"),
            self._device("verify", "Verified"),
            state(self._on_device("profile")),
            self._judged(),
        )
        again = self._shaped("NextTurn", {"turn.$": "States.MathAdd($.turn, 1)"})
        turn.then(again)
        again.next(turn.start)
        return turn.start

    def _plan(self) -> Part:
        stop = self._shaped("Stop", {"outcome": "abandoned", "reason.$": "$.plan.reason"})
        stop.next(self._end)
        return fork(
            self._scope,
            "Planned",
            state(self._step("plan", KERNEL)),
            good=sfn.Condition.and_(
                sfn.Condition.string_equals("$.plan.action", "generate"),
                sfn.Condition.number_less_than_equals("$.turn", retries.MOST_TURNS),
            ),
            otherwise=stop,
        )

    def _generate(self) -> Part:
        request = KERNEL | ATTEMPT | {"backend.$": "$.plan.backend"}
        return fork(
            self._scope,
            "Generated",
            state(self._step("generate", request)),
            good=sfn.Condition.string_equals("$.generate.outcome", "generated"),
            otherwise=self._judge,
        )

    def _device(self, name: DeviceStep, done: str) -> Part:
        """Work whose failure is judged at once."""
        return fork(
            self._scope,
            done,
            state(self._on_device(name)),
            good=sfn.Condition.string_equals(f"$.{name}.outcome", "passed"),
            otherwise=self._judge,
        )

    def _judged(self) -> Part:
        ended = self._shaped(
            "KernelAccepted",
            {"outcome.$": "$.judge.outcome", "reason.$": "$.judge.reason"},
        )
        return fork(
            self._scope,
            "Judged",
            state(self._judge),
            good=sfn.Condition.string_equals("$.judge.outcome", "again"),
            otherwise=ended,
        )

    def _end_kernel(self) -> sfn.TaskStateBase:
        """Record how the kernel ended; if even that fails, the job still goes on."""
        lost = self._shaped("KernelNotRecorded", {"outcome": "not_judged"} | TROUBLE)
        return step(self._scope, self._calls, "end_kernel", trouble=lost)

    def _step(self, name: str, request: dict[str, str]) -> sfn.TaskStateBase:
        return step(self._scope, self._calls, name, request, trouble=self._trouble)

    def _on_device(self, name: DeviceStep) -> sfn.TaskStateBase:
        return on_device(self._scope, self._calls, name, ATTEMPT, trouble=self._trouble)

    def _shaped(self, name: str, said: Mapping[str, str]) -> sfn.Pass:
        return sfn.Pass(self._scope, name, parameters=KERNEL | dict(said))
