"""Judge: read an attempt's reports, add them up, and record what became of it."""

import hashlib
from collections.abc import Sequence
from typing import get_args

from nkiport.contracts import keys
from nkiport.contracts.base import EvidenceLevel
from nkiport.contracts.errors import Conflict, NotFound, StoreBusy
from nkiport.contracts.jobs import Attempt, Kernel
from nkiport.contracts.judgement import Check, StageReport, Verdict
from nkiport.contracts.steps import JudgeRequest, JudgeResult
from nkiport.jobs.ports import Artifacts, Clock, Records
from nkiport.judge.verdict import digest, feedback, in_order, outcome

STEPS = ("compile", "verify", "profile")
MOST_REASON = 1500


def judge(
    request: JudgeRequest,
    *,
    records: Records,
    artifacts: Artifacts,
    clock: Clock,  # noqa: ARG001 - every step that records is called alike
) -> JudgeResult:
    """Write the verdict and close the attempt; judging twice gives the first verdict.

    Raises ``NotFound`` for an attempt nobody planned, ``StoreBusy`` if it changed meanwhile.
    """
    attempt = _attempt(request, records)
    if attempt.candidate_key is None:
        return _closed(request, attempt, None, records)
    key = keys.verdict(request.job_id, request.kernel_id, request.attempt)
    artifacts.put_new(key, _verdict(request, attempt, artifacts).model_dump_json().encode())
    verdict = Verdict.model_validate_json(artifacts.get(key))
    result = _closed(request, attempt, verdict, records)
    if verdict.outcome != "rejected":
        _accept(request, verdict, records)
    return result


def _attempt(request: JudgeRequest, records: Records) -> Attempt:
    sort = f"ATTEMPT#{request.kernel_id}#{request.attempt:04d}"
    attempt = records.get(Attempt, f"JOB#{request.job_id}", sort)
    if attempt is None:
        raise NotFound(f"attempt {request.attempt} at '{request.kernel_id}' was never planned")
    return attempt


def _verdict(request: JudgeRequest, attempt: Attempt, artifacts: Artifacts) -> Verdict:
    """Only reports of this very candidate count: it is read again and hashed here."""
    source = artifacts.get(keys.candidate(request.job_id, request.kernel_id, request.attempt))
    sha256 = hashlib.sha256(source).hexdigest()
    found = filter(None, (_report(request, step, artifacts) for step in STEPS))
    reports = [each for each in found if each.candidate_sha256 in {None, sha256}]
    checks = in_order([check for report in reports for check in report.checks])
    if sha256 != attempt.candidate_sha256:
        checks = (_exchanged(), *checks)
    return Verdict(
        **dict(request),
        outcome=outcome(checks),
        level=_weakest(reports),
        candidate_sha256=sha256,
        checks=checks,
        feedback=feedback(checks),
    )


def _weakest(reports: Sequence[StageReport]) -> EvidenceLevel:
    """A verdict is worth no more than the least of what it rests on."""
    levels = get_args(EvidenceLevel)
    return max((each.level for each in reports), key=levels.index, default="functional")


def _report(request: JudgeRequest, step: str, artifacts: Artifacts) -> StageReport | None:
    key = keys.report(request.job_id, request.kernel_id, request.attempt, step)
    try:
        return StageReport.model_validate_json(artifacts.get(key))
    except NotFound:
        return None


def _exchanged() -> Check:
    return Check(
        name="candidate", stage="policy", result="failed",
        detail="the candidate's file is not the one that was generated",
    )  # fmt: skip


def _closed(
    request: JudgeRequest, attempt: Attempt, verdict: Verdict | None, records: Records
) -> JudgeResult:
    accepted = verdict is not None and verdict.outcome != "rejected"
    changes: dict[str, object] = {"status": "judged", "accepted": accepted}
    if verdict is None:
        changes |= {"failed_stage": "generate", "failure_digest": _digest(attempt.feedback)}
    elif not accepted:
        failed = verdict.first_failure
        changes |= {
            "feedback": verdict.feedback or "the reports of this attempt are not complete",
            "failed_stage": failed.stage if failed else "compile",
            "failure_digest": digest(failed) if failed else "",
        }
    if attempt.status != "judged":
        attempt = _replaced(attempt.model_copy(update=changes), records)
    result = verdict.outcome if verdict is not None and accepted else "again"
    return JudgeResult(**dict(request), outcome=result, reason=attempt.feedback[:MOST_REASON])


def _replaced(attempt: Attempt, records: Records) -> Attempt:
    try:
        return records.replace(attempt)
    except Conflict as lost:
        raise StoreBusy(f"attempt {attempt.attempt} was judged by another run") from lost


def _accept(request: JudgeRequest, verdict: Verdict, records: Records) -> None:
    kernel = records.get(Kernel, f"JOB#{request.job_id}", f"KERNEL#{request.kernel_id}")
    if kernel is None or kernel.accepted_attempt:
        return
    done = {"status": verdict.outcome, "accepted_attempt": request.attempt}
    try:
        records.replace(kernel.model_copy(update=done))
    except Conflict as lost:
        raise StoreBusy(f"kernel '{request.kernel_id}' changed while it was judged") from lost


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
