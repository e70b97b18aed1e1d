"""Finish: give the job its last status, once."""

from nkiport.contracts.errors import Conflict, NotFound, StoreBusy
from nkiport.contracts.jobs import ENDED, Gate, Job, LedgerEntry, WorkEntry
from nkiport.contracts.steps import FinishRequest, FinishResult
from nkiport.jobs.ports import Clock, Records


def finish(request: FinishRequest, *, records: Records, clock: Clock) -> FinishResult:
    """Record how the job ended and what its models and workers took; an ended job stays as it is.

    Raises ``NotFound`` for a job nobody submitted, ``StoreBusy`` if it changed meanwhile.
    """
    job = records.get(Job, f"JOB#{request.job_id}", "JOB")
    if job is None:
        raise NotFound(f"there is no job '{request.job_id}'")
    if job.status in ENDED:
        return FinishResult(job_id=job.job_id, status=job.status)
    bill = records.query(LedgerEntry, job.partition(), "LEDGER#")
    work = records.query(WorkEntry, job.partition(), "WORK#")
    changes = {
        "status": request.outcome,
        "reason": request.reason,
        "updated": clock.now(),
        "model_seconds": sum(each.seconds for each in bill),
        "worker_seconds": sum(each.seconds for each in work),
    }
    try:
        if request.outcome == "gate_expired":
            _expire_gates(job, records)
        ended = records.replace(job.model_copy(update=changes))
    except Conflict as lost:
        raise StoreBusy(f"job '{job.job_id}' changed while it was finished") from lost
    return FinishResult(job_id=job.job_id, status=ended.status)


def _expire_gates(job: Job, records: Records) -> None:
    for gate in records.query(Gate, job.partition(), "GATE#"):
        if gate.status == "open":
            records.replace(gate.model_copy(update={"status": "expired"}))
