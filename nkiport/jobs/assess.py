"""Assess: what is known of a captured kernel, for the person at the second gate."""

from typing import Literal

from nkiport.contracts import keys
from nkiport.contracts.capture import Capture
from nkiport.contracts.errors import Conflict, NotFound, StoreBusy
from nkiport.contracts.jobs import Kernel
from nkiport.contracts.steps import AssessRequest, AssessResult
from nkiport.jobs.ports import Artifacts, Records
from nkiport.lowering import uncovered
from nkiport.skills import lookup

PERFECT = 0.75
"""From this score on, a skill describes the very kernel."""


def assess(request: AssessRequest, *, artifacts: Artifacts, records: Records) -> AssessResult:
    """Say whether the kernel can go on, who would write it, and how sure that is.

    Raises ``NotFound`` for a kernel that was never found, ``StoreBusy`` if it changed meanwhile.
    """
    kernel = records.get(Kernel, f"JOB#{request.job_id}", f"KERNEL#{request.kernel_id}")
    if kernel is None:
        raise NotFound(f"job '{request.job_id}' has no kernel '{request.kernel_id}'")
    if request.captured != "passed":
        lost = request.captured == "lost"
        _set(kernel, "not_judged" if lost else "not_captured", request.reason, records)
        outcome: Literal["not_judged", "not_captured"] = "not_judged" if lost else "not_captured"
        return AssessResult(
            job_id=request.job_id, kernel_id=request.kernel_id, outcome=outcome,
            reason=request.reason,
        )  # fmt: skip
    key = keys.capture(request.job_id, request.kernel_id)
    capture = Capture.model_validate_json(artifacts.get(key))
    _set(kernel, "captured", "", records, capture)
    return _assessed(request, kernel, capture)


def _assessed(request: AssessRequest, kernel: Kernel, capture: Capture) -> AssessResult:
    lacking = uncovered(capture.graph) if capture.graph else ()
    by_rule = capture.graph is not None and not lacking
    best = lookup(kernel.name, top=1)
    score = best[0].score if best else 0.0
    reason = capture.no_graph_because or (f"no rule for {', '.join(lacking)}" if lacking else "")
    return AssessResult(
        job_id=request.job_id,
        kernel_id=request.kernel_id,
        outcome="ready",
        confidence="high" if by_rule else "medium" if score >= PERFECT else "low",
        backend="recipes" if by_rule else "claude",
        skill_score=score,
        reason=reason,
    )


def _set(
    kernel: Kernel, status: str, reason: str, records: Records, capture: Capture | None = None
) -> None:
    changes: dict[str, object] = {"status": status, "reason": reason}
    if capture:
        changes["reference"] = capture.reference
    changed = kernel.model_copy(update=changes)
    if changed == kernel:
        return
    try:
        records.replace(changed)
    except Conflict as lost:
        raise StoreBusy(f"kernel '{kernel.kernel_id}' changed while it was assessed") from lost
