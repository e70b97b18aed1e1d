"""The least that the steps not under test do to the records, so that the loop goes round."""

import hashlib

from nkiport.adapters.memory import Artifacts, Records
from nkiport.contracts import keys
from nkiport.contracts.errors import NotFound
from nkiport.contracts.jobs import Attempt, Job, Kernel
from nkiport.contracts.judgement import Check, StageReport
from nkiport.contracts.steps import (
    EndKernelRequest,
    FinishRequest,
    FinishResult,
    JudgeRequest,
    JudgeResult,
    KernelResult,
)


def judge(request: JudgeRequest, *, records: Records, artifacts: Artifacts) -> JudgeResult:
    """Close the attempt by its first failed check, or accept the kernel."""
    attempt = _attempt(request, records)
    failure = _first_failure(request, artifacts) if attempt.status == "generated" else None
    accepted = attempt.status == "generated" and failure is None
    update = {"status": "judged", "accepted": accepted}
    if failure:
        digest = hashlib.sha256(failure.findings[0].code.encode()).hexdigest()
        update |= {"failed_stage": failure.stage, "failure_digest": digest}
        update |= {"feedback": failure.findings[0].sentence()}
    elif not accepted:
        update |= {"failed_stage": "generate", "feedback": attempt.feedback}
    records.replace(attempt.model_copy(update=update))
    if accepted:
        done = {"status": "accepted", "accepted_attempt": request.attempt}
        _change_kernel(request.job_id, request.kernel_id, records, done)
    return JudgeResult(**dict(request), outcome="accepted" if accepted else "again")


def end_kernel(request: EndKernelRequest, *, records: Records) -> KernelResult:
    """Record the outcome and the reason."""
    ended = {"status": request.outcome, "reason": request.reason}
    _change_kernel(request.job_id, request.kernel_id, records, ended)
    return KernelResult(**dict(request))


def finish(request: FinishRequest, *, records: Records) -> FinishResult:
    """Record the status and the reason."""
    job = records.get(Job, f"JOB#{request.job_id}", "JOB")
    assert job is not None
    records.replace(job.model_copy(update={"status": request.outcome, "reason": request.reason}))
    return FinishResult(job_id=request.job_id, status=request.outcome)


def _attempt(request: JudgeRequest, records: Records) -> Attempt:
    sort = f"ATTEMPT#{request.kernel_id}#{request.attempt:04d}"
    found = records.get(Attempt, f"JOB#{request.job_id}", sort)
    assert found is not None
    return found


def _first_failure(request: JudgeRequest, artifacts: Artifacts) -> Check | None:
    for step in ("compile", "verify", "profile"):
        key = keys.report(request.job_id, request.kernel_id, request.attempt, step)
        try:
            report = StageReport.model_validate_json(artifacts.get(key))
        except NotFound:
            continue
        for check in report.checks:
            if check.result == "failed":
                return check
    return None


def _change_kernel(
    job_id: str, kernel_id: str, records: Records, update: dict[str, object]
) -> None:
    kernel = records.get(Kernel, f"JOB#{job_id}", f"KERNEL#{kernel_id}")
    assert kernel is not None
    records.replace(kernel.model_copy(update=update))
