"""Run each chosen kernel's reference, and say whether the kernel can go on."""

from collections.abc import Mapping

from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from statemachine import retries
from statemachine.groups.endings import Endings
from statemachine.parts import Part, fork, in_order, state
from statemachine.tasks import ITEM, JOB, KERNEL, TROUBLE, Calls, on_device, step


def capturing(scope: Construct, calls: Calls, end: Endings) -> Part:
    """Capture and assess the kernels of gate 1; go on if at least one can.

    A kernel in trouble never stops the others: each gives the outcome of its assessment.
    """
    each = sfn.Map(
        scope,
        "CaptureKernels",
        items_path="$.scope.kernels",
        item_selector=ITEM,
        max_concurrency=retries.KERNELS_AT_ONCE,
        result_path="$.captured",
    )
    each.item_processor(_one(scope, calls).start)
    ready = sfn.Pass(
        scope,
        "CountReady",
        parameters=JOB | {"ready.$": "States.ArrayContains($.captured, 'ready')"},
    )
    return fork(
        scope,
        "Ready",
        in_order(state(each), state(ready)),
        good=sfn.Condition.boolean_equals("$.ready", value=True),
        otherwise=end.because(
            "NothingCaptured",
            {
                "outcome": "nothing_accepted",
                "reason": "no chosen kernel could be captured; each kernel's reason says why",
            },
        ),
    )


def _one(scope: Construct, calls: Calls) -> Part:
    not_assessed = sfn.Pass(scope, "NotAssessed", result=sfn.Result.from_string("not_judged"))
    lost = _shaped(scope, "CaptureLost", {"captured": "lost"} | TROUBLE)
    captured = _shaped(
        scope,
        "Captured",
        {"captured.$": "$.capture.outcome", "reason.$": "$.capture.reason"},
    )
    assess = step(scope, calls, "assess", trouble=not_assessed)
    lost.next(assess)
    return in_order(
        state(on_device(scope, calls, "capture", {"attempt": 0}, trouble=lost)),
        state(captured),
        state(assess),
        state(sfn.Pass(scope, "Assessed", input_path="$.assess.outcome")),
    )


def _shaped(scope: Construct, name: str, said: Mapping[str, str]) -> sfn.Pass:
    return sfn.Pass(scope, name, parameters=KERNEL | dict(said))
