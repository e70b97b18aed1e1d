"""Generate: write the candidate of a planned attempt, once."""

import hashlib
import io
import zipfile
from collections.abc import Mapping

from nkiport.contracts import keys
from nkiport.contracts.base import BackendName
from nkiport.contracts.capture import Capture
from nkiport.contracts.errors import Conflict, NotFound, SpendCapReached, StoreBusy
from nkiport.contracts.jobs import Attempt
from nkiport.contracts.judgement import Oracle
from nkiport.contracts.steps import GenerateRequest, GenerateResult
from nkiport.generation import Backend, Earlier, Task, Written
from nkiport.jobs.ledger import AttemptMeter
from nkiport.jobs.ports import Artifacts, Clock, Records

MOST_SOURCE = 64 * 1024
"""Characters of a reference's file that a model is shown."""
MOST_REASON = 1500
"""Characters of a reason; the rest is in the transcript."""


def generate(
    request: GenerateRequest,
    *,
    records: Records,
    artifacts: Artifacts,
    backends: Mapping[BackendName, Backend],
    clock: Clock,
) -> GenerateResult:
    """Write the attempt's candidate, or say why there is none; twice is once.

    Raises ``ModelBusy`` when the model throttles, ``NotFound`` for an attempt nobody planned.
    """
    attempt = _planned(request, records)
    if attempt.status != "planned":
        return _result(attempt)
    if request.backend not in backends:
        there = ", ".join(sorted(backends)) or "none"
        written = Written(None, f"backend '{request.backend}' is not set up; there: {there}")
    else:
        written = _write(attempt, backends[request.backend], records, artifacts, clock)
    return _result(_record(attempt, written, records, artifacts))


def task_of(
    job_id: str, kernel_id: str, *, records: Records, artifacts: Artifacts, before: int
) -> Task:
    """What a backend is told: the sealed specification, and the attempts numbered below."""
    oracle = oracle_of(job_id, kernel_id, artifacts)
    capture = Capture.model_validate_json(artifacts.get(keys.capture(job_id, kernel_id)))
    past = [a for a in attempts_of(job_id, kernel_id, records) if a.attempt < before]
    with_source = [a for a in past if a.candidate_key]
    last = artifacts.get(with_source[-1].candidate_key or "") if with_source else b""
    return Task(
        name=kernel_id.replace("-", "_"),
        capture=capture,
        target=oracle.target,
        tolerance=oracle.requirements.tolerance,
        min_roofline_share=oracle.requirements.min_roofline_share,
        reference_source=_reference_source(job_id, oracle, artifacts),
        last_source=last.decode(),
        earlier=tuple(
            Earlier(a.attempt, a.backend, a.failed_stage or "generate", a.feedback) for a in past
        ),
    )


def oracle_of(job_id: str, kernel_id: str, artifacts: Artifacts) -> Oracle:
    """The sealed record of a kernel."""
    return Oracle.model_validate_json(artifacts.get(keys.oracle(job_id, kernel_id)))


def attempts_of(job_id: str, kernel_id: str, records: Records) -> list[Attempt]:
    """Every attempt at a kernel, oldest first."""
    return records.query(Attempt, f"JOB#{job_id}", f"ATTEMPT#{kernel_id}#")


def _planned(request: GenerateRequest, records: Records) -> Attempt:
    sort = f"ATTEMPT#{request.kernel_id}#{request.attempt:04d}"
    attempt = records.get(Attempt, f"JOB#{request.job_id}", sort)
    if attempt is None:
        raise NotFound(f"attempt {request.attempt} at '{request.kernel_id}' was never planned")
    return attempt


def _write(
    attempt: Attempt, backend: Backend, records: Records, artifacts: Artifacts, clock: Clock
) -> Written:
    job_id, kernel_id = attempt.job_id, attempt.kernel_id
    cap = oracle_of(job_id, kernel_id, artifacts).requirements.spend_cap_usd
    task = task_of(job_id, kernel_id, records=records, artifacts=artifacts, before=attempt.attempt)
    meter = AttemptMeter(attempt, cap_usd=cap, records=records, artifacts=artifacts, clock=clock)
    try:
        return backend.write(task, meter)
    except SpendCapReached as reached:
        return Written(None, f"spend cap reached: {reached}")


def _record(attempt: Attempt, written: Written, records: Records, artifacts: Artifacts) -> Attempt:
    """The candidate first: an attempt that says it has one always does."""
    changes: dict[str, object] = {"status": "not_generated", "feedback": written.reason}
    if written.source is not None:
        key = keys.candidate(attempt.job_id, attempt.kernel_id, attempt.attempt)
        artifacts.put_new(key, written.source.encode())
        digest = hashlib.sha256(artifacts.get(key)).hexdigest()
        changes = {"status": "generated", "candidate_key": key, "candidate_sha256": digest}
    else:
        changes["failed_stage"] = "generate"
    try:
        return records.replace(attempt.model_copy(update=changes))
    except Conflict as lost:
        raise StoreBusy(f"attempt {attempt.attempt} was written by another run") from lost


def _result(attempt: Attempt) -> GenerateResult:
    return GenerateResult(
        job_id=attempt.job_id,
        kernel_id=attempt.kernel_id,
        attempt=attempt.attempt,
        outcome="generated" if attempt.candidate_key else "failed",
        candidate_key=attempt.candidate_key,
        reason="" if attempt.candidate_key else attempt.feedback[:MOST_REASON],
    )


def _reference_source(job_id: str, oracle: Oracle, artifacts: Artifacts) -> str:
    """The reference's file, or nothing where the source cannot be read: it is only shown."""
    try:
        packed = io.BytesIO(artifacts.get(keys.source(job_id)))
        with zipfile.ZipFile(packed) as tree, tree.open(oracle.reference.file) as file:
            return file.read(MOST_SOURCE).decode("utf-8", "replace")
    except (NotFound, KeyError, zipfile.BadZipFile):
        return ""
