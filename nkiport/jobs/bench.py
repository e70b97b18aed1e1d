"""The benchmark: its tasks are submitted as one job, its gates answered, its end reported."""

import hashlib
import io
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from nkiport import __version__
from nkiport.contracts import keys
from nkiport.contracts.base import Contract, JobId, KernelId
from nkiport.contracts.errors import BadSource, NotFound
from nkiport.contracts.jobs import (
    ENDED,
    Gate,
    Job,
    JobRequest,
    JobStatus,
    Kernel,
    KernelStatus,
    KeySource,
    LedgerEntry,
)
from nkiport.contracts.steps import (
    BenchReportRequest,
    BenchReportResult,
    BenchStartRequest,
    BenchStartResult,
    GateAnswer,
)
from nkiport.jobs.ports import Artifacts, Clock, Executions, Records

OWNER: Final = "benchmark"
ACCEPTED: Final = frozenset({"accepted", "accepted_slow"})
DEADLINE: Final = timedelta(hours=20)
"""Less than the benchmark machine waits, so that a late job is still reported."""
EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The oldest time a zip can hold: the same tasks give the same bytes."""


class TaskScore(Contract):
    """How one task ended."""

    kernel_id: KernelId
    name: str
    status: KernelStatus
    attempts: int
    usd: float
    reason: str = ""


class BenchChange(Contract):
    """What a run won and lost since another one, by the tasks' names."""

    job_id: JobId
    version: str
    won: tuple[str, ...]
    lost: tuple[str, ...]


class BenchReport(Contract):
    """What a run gave, stored under ``keys.bench_report``; evidence lies with each kernel."""

    job_id: JobId
    status: JobStatus
    started: datetime
    finished: datetime
    accepted: int
    tasks: tuple[TaskScore, ...]
    version: str = ""
    """Of nkiport, which ran it."""
    change: BenchChange | None = None
    """Since the baseline; None for the first report."""


def start_benchmark(
    request: BenchStartRequest,
    *,
    tasks: Path,
    artifacts: Artifacts,
    records: Records,
    executions: Executions,
    clock: Clock,
) -> BenchStartResult:
    """Submit the files of ``tasks``; the same run asked for twice is one job.

    Raises ``BadSource`` if the folder holds no task.
    """
    job_id = f"bench-{hashlib.sha256(request.started.encode()).hexdigest()[:16]}"
    source = KeySource(key=_uploaded(tasks, artifacts))
    asked = JobRequest(source=source, deadline_hours=DEADLINE / timedelta(hours=1))
    now = clock.now()
    records.add(
        Job(
            job_id=job_id,
            request=asked,
            request_sha256=hashlib.sha256(asked.model_dump_json().encode()).hexdigest(),
            owner=OWNER,
            created=now,
            updated=now,
            deadline=now + DEADLINE,
        )
    )
    executions.start(job_id)
    return BenchStartResult(job_id=job_id)


def report_benchmark(
    request: BenchReportRequest,
    *,
    artifacts: Artifacts,
    records: Records,
    answer: Callable[[GateAnswer], object],
) -> BenchReportResult:
    """Approve the gates that wait; when the job has ended, write its report.

    Raises ``NotFound`` if there is no such job.
    """
    partition = f"JOB#{request.job_id}"
    job = records.get(Job, partition, "JOB")
    if job is None:
        raise NotFound(f"no job '{request.job_id}'")
    if job.status not in ENDED:
        _approve(request.job_id, records, answer)
        return BenchReportResult(job_id=request.job_id, outcome="running")
    report = _compared(_report(job, records), artifacts)
    key, text = keys.bench_report(job.job_id), report.model_dump_json(indent=2).encode()
    artifacts.put(key, text)
    artifacts.put(keys.bench_baseline(), text)
    return BenchReportResult(
        job_id=job.job_id,
        outcome="reported",
        accepted=report.accepted,
        total=len(report.tasks),
        report_key=key,
    )


def _compared(report: BenchReport, artifacts: Artifacts) -> BenchReport:
    """The report with what changed since the last one; asked again, it is compared no second time.

    All runs of a deployment have one target and one engine.
    """
    try:
        last = BenchReport.model_validate_json(artifacts.get(keys.bench_baseline()))
    except NotFound:
        return report
    if last.job_id == report.job_id:
        return last
    before, after = _accepted(last), _accepted(report)
    change = BenchChange(
        job_id=last.job_id,
        version=last.version,
        won=tuple(sorted(after - before)),
        lost=tuple(sorted(before - after)),
    )
    return report.model_copy(update={"change": change})


def _accepted(report: BenchReport) -> set[str]:
    return {task.name for task in report.tasks if task.status in ACCEPTED}


def _uploaded(tasks: Path, artifacts: Artifacts) -> str:
    files = sorted(tasks.rglob("*.py"))
    if not files:
        raise BadSource(f"no benchmark task in '{tasks.name}'; each is one Python file")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            name = file.relative_to(tasks).as_posix()
            archive.writestr(zipfile.ZipInfo(name, EPOCH), file.read_bytes())
    key = keys.upload(hashlib.sha256(packed.getvalue()).hexdigest())
    artifacts.put_new(key, packed.getvalue())
    return key


def _approve(job_id: JobId, records: Records, answer: Callable[[GateAnswer], object]) -> None:
    for gate in records.query(Gate, f"JOB#{job_id}", "GATE#"):
        if gate.status == "open":
            answer(
                GateAnswer(job_id=job_id, gate=gate.gate, decision="approved", answered_by=OWNER)
            )


def _report(job: Job, records: Records) -> BenchReport:
    ledger = records.query(LedgerEntry, job.partition(), "LEDGER#")
    scores = tuple(
        TaskScore(
            kernel_id=kernel.kernel_id,
            name=f"{kernel.file}:{kernel.name}",
            status=kernel.status,
            attempts=kernel.attempt,
            usd=sum(entry.usd or 0 for entry in ledger if entry.kernel_id == kernel.kernel_id),
            reason=kernel.reason,
        )
        for kernel in records.query(Kernel, job.partition(), "KERNEL#")
    )
    return BenchReport(
        job_id=job.job_id,
        status=job.status,
        started=job.created,
        finished=job.updated,
        accepted=sum(score.status in ACCEPTED for score in scores),
        tasks=scores,
        version=__version__,
    )
