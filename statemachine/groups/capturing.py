"""Run each chosen kernel's reference, and say whether the kernel can go on."""

from collections.abc import Mapping

from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from statemachine import retries
from statemachine.parts import Part, in_order, state
from statemachine.tasks import ITEM, KERNEL, TROUBLE, Calls, on_device, step


def capturing(scope: Construct, calls: Calls) -> Part:
    """Capture and assess the kernels of gate 1; a kernel in trouble never stops the others."""
    each = sfn.Map(
        scope,
        "CaptureKernels",
        items_path="$.scope.kernels",
        item_selector=ITEM,
        max_concurrency=retries.KERNELS_AT_ONCE,
        result_path=sfn.JsonPath.DISCARD,
    )
    each.item_processor(_one(scope, calls).start)
    return state(each)


def _one(scope: Construct, calls: Calls) -> Part:
    not_assessed = _shaped(scope, "NotAssessed", {"outcome": "not_judged"} | TROUBLE)
    assess = step(scope, calls, "assess", trouble=not_assessed)
    lost = _shaped(scope, "CaptureLost", {"captured": "lost"} | TROUBLE)
    lost.next(assess)
    return in_order(
        state(on_device(scope, calls, "capture", {"attempt": 0}, trouble=lost)),
        state(
            _shaped(
                scope,
                "Captured",
                {"captured.$": "$.capture.outcome", "reason.$": "$.capture.reason"},
            )
        ),
        state(assess),
    )


def _shaped(scope: Construct, name: str, said: Mapping[str, str]) -> sfn.Pass:
    return sfn.Pass(scope, name, parameters=KERNEL | dict(said))
