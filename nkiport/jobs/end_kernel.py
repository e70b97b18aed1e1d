"""EndKernel: record a kernel that no verdict ended, and leave what a person needs to go on."""

from nkiport.contracts import keys
from nkiport.contracts.errors import Conflict, NotFound, StoreBusy
from nkiport.contracts.jobs import Attempt, Kernel
from nkiport.contracts.steps import EndKernelRequest, KernelResult
from nkiport.jobs.ports import Artifacts, Clock, Records
from nkiport.skills import lookup

ACCEPTED = frozenset({"accepted", "accepted_slow"})


def end_kernel(
    request: EndKernelRequest,
    *,
    records: Records,
    artifacts: Artifacts,
    clock: Clock,  # noqa: ARG001 - every step that records is called alike
) -> KernelResult:
    """Write the hand-off and the outcome; a kernel that was accepted stays accepted.

    Raises ``NotFound`` for an unknown kernel, ``StoreBusy`` if it changed meanwhile.
    """
    partition = f"JOB#{request.job_id}"
    kernel = records.get(Kernel, partition, f"KERNEL#{request.kernel_id}")
    if kernel is None:
        raise NotFound(f"job '{request.job_id}' has no kernel '{request.kernel_id}'")
    if kernel.status in ACCEPTED:
        return KernelResult.model_validate(
            {**dict(request), "outcome": kernel.status, "reason": kernel.reason}
        )
    attempts = records.query(Attempt, partition, f"ATTEMPT#{request.kernel_id}#")
    text = handoff(kernel, request.reason, attempts, _last_source(attempts, artifacts))
    artifacts.put(keys.handoff(request.job_id, request.kernel_id), text.encode())
    changes = {"status": request.outcome, "reason": request.reason}
    if kernel.status != request.outcome:
        try:
            records.replace(kernel.model_copy(update=changes))
        except Conflict as lost:
            raise StoreBusy(f"kernel '{kernel.kernel_id}' changed while it was ended") from lost
    return KernelResult(**dict(request))


def handoff(kernel: Kernel, reason: str, attempts: list[Attempt], source: str) -> str:
    """Markdown: why it ended, what was tried, where to look, and the last candidate."""
    tried = [
        f"{each.attempt}. `{each.backend}` failed at {each.failed_stage or each.status}: "
        f"{each.feedback or 'no more is known'}"
        for each in attempts
    ]
    skills = [f"- {each.entry.title} ({each.score:.2f})" for each in lookup(kernel.name, top=3)]
    parts = [
        f"# {kernel.name}: not migrated", f"`{kernel.file}:{kernel.line}`. {reason}",
        "## What was tried", "\n".join(tried) or "No candidate was written.",
        "## Skills that come near", "\n".join(skills) or "None.",
    ]  # fmt: skip
    if source:
        parts += ["## The last candidate", f"```python\n{source.rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def _last_source(attempts: list[Attempt], artifacts: Artifacts) -> str:
    written = [each.candidate_key for each in attempts if each.candidate_key]
    return artifacts.get(written[-1]).decode("utf-8", "replace") if written else ""
