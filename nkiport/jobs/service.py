"""What every surface offers: routes, tools and commands call these."""

import base64
import binascii
import hashlib
import secrets
from datetime import timedelta

from nkiport.contracts import keys
from nkiport.contracts.errors import BadRequest, Conflict, NotFound, SourceTooLarge, StoreBusy
from nkiport.contracts.jobs import (
    ENDED,
    Gate,
    IdempotencyRecord,
    Job,
    JobRequest,
    Kernel,
    KeySource,
    LedgerEntry,
    UploadSource,
)
from nkiport.contracts.surfaces import (
    ArtifactLink,
    GateView,
    JobList,
    JobSummary,
    JobView,
    KernelView,
    Upload,
)
from nkiport.jobs.ports import Artifacts, Clock, Executions, Records
from nkiport.jobs.source import MOST_BYTES, check_source

MOST_INLINE = 4 * 1024 * 1024
"""Bytes of an archive inside a request; larger ones go by ``POST /uploads``."""
LINK_SECONDS = 900
TARGETS_RUN = ("trn1",)
"""The targets that some worker's engine takes."""
MOST_LISTED = 100
CANCEL_TRIES = 5
"""A step of a job writes it once, so a few are enough."""


def submit_job(
    request: JobRequest,
    *,
    owner: str,
    artifacts: Artifacts,
    records: Records,
    executions: Executions,
    clock: Clock,
) -> JobView:
    """Store the source, record the job and start it; the same idempotency key gives one job.

    Raises ``BadRequest``, ``BadSource`` or ``SourceTooLarge`` for what cannot be used, and
    ``Conflict`` if the key was used for another request.
    """
    if request.target not in TARGETS_RUN:
        raise BadRequest(f"no worker runs target '{request.target}' yet; there is trn1")
    digest = hashlib.sha256(request.model_dump_json().encode()).hexdigest()
    job_id = _job_id(request, owner)
    if request.idempotency_key:
        _claim(request.idempotency_key, owner, job_id, digest, records)
    stored = request.model_copy(update={"source": _stored(request, artifacts)})
    now = clock.now()
    job = Job(
        job_id=job_id,
        request=stored,
        request_sha256=digest,
        owner=owner,
        created=now,
        updated=now,
        deadline=now + timedelta(hours=request.deadline_hours),
    )
    records.add(job)
    executions.start(job_id)
    return show_job(job_id, owner=owner, records=records)


def list_jobs(
    *, owner: str, records: Records, limit: int = 20, before: str | None = None
) -> JobList:
    """A page of the owner's jobs, newest first."""
    wanted = max(1, min(limit, MOST_LISTED))
    found = records.jobs(owner, wanted, before)
    more = found[-1].job_id if len(found) == wanted else None
    return JobList(jobs=tuple(JobSummary.of(job) for job in found), next=more)


def show_job(job_id: str, *, owner: str, records: Records) -> JobView:
    """Everything that is known of a job. Raises ``NotFound``, also for another owner's job."""
    job = owned(job_id, owner, records)
    partition = job.partition()
    bill = records.query(LedgerEntry, partition, "LEDGER#")
    return JobView(
        **dict(JobSummary.of(job)),
        deadline=job.deadline,
        requirements=job.request.requirements,
        gates=tuple(GateView.of(each) for each in records.query(Gate, partition, "GATE#")),
        kernels=tuple(KernelView.of(each) for each in records.query(Kernel, partition, "KERNEL#")),
        tokens=sum(each.input_tokens + each.output_tokens for each in bill),
        usd=sum(each.usd or 0.0 for each in bill),
        worker_seconds=job.worker_seconds,
        model_seconds=job.model_seconds,
    )


def cancel_job(
    job_id: str, *, owner: str, records: Records, executions: Executions, clock: Clock
) -> JobView:
    """End a job where it is; what it has found stays. Cancelling twice is cancelling once.

    A job that goes on meanwhile is read again; raises ``StoreBusy`` if it does so each time.
    """
    for _ in range(CANCEL_TRIES):
        if _cancelled(owned(job_id, owner, records), records, clock):
            executions.stop(job_id, "cancelled on request")
            return show_job(job_id, owner=owner, records=records)
    raise StoreBusy(f"job '{job_id}' changed while it was cancelled; try again")


def _cancelled(job: Job, records: Records, clock: Clock) -> bool:
    """Write that a job is; False if it changed since it was read."""
    if job.status in ENDED:
        return True
    changes = {"status": "cancelled", "reason": "cancelled on request", "updated": clock.now()}
    try:
        records.replace(job.model_copy(update=changes))
    except Conflict:
        return False
    return True


def artifact_link(
    job_id: str, path: str, *, owner: str, records: Records, artifacts: Artifacts
) -> ArtifactLink:
    """An address of one of the job's artifacts, named as below ``jobs/<id>/``."""
    owned(job_id, owner, records)
    if not path or ".." in path.split("/") or path.startswith("/"):
        raise BadRequest(f"'{path}' is no name of an artifact")
    key = f"jobs/{job_id}/{path}"
    return ArtifactLink(name=path, bytes=artifacts.size(key), url=artifacts.link(key, LINK_SECONDS))


def request_upload(size: int, *, artifacts: Artifacts) -> Upload:
    """Where to put an archive of so many bytes. Raises ``SourceTooLarge``."""
    if size > MOST_BYTES:
        raise SourceTooLarge(f"the archive has {size} bytes; at most {MOST_BYTES} are taken")
    key = keys.upload(secrets.token_hex(32))
    return Upload(key=key, url=artifacts.upload_link(key, size, LINK_SECONDS), seconds=LINK_SECONDS)


def owned(job_id: str, owner: str, records: Records) -> Job:
    """The owner's job. Raises ``NotFound``."""
    job = records.get(Job, f"JOB#{job_id}", "JOB")
    if job is None or job.owner != owner:
        raise NotFound(f"there is no job '{job_id}'")
    return job


def _job_id(request: JobRequest, owner: str) -> str:
    """With an idempotency key the id follows from it: a crash in between changes nothing."""
    if request.idempotency_key:
        named = f"{owner}\n{request.idempotency_key}".encode()
        return f"job-{hashlib.sha256(named).hexdigest()[:12]}"
    return f"job-{secrets.token_hex(6)}"


def _claim(key: str, owner: str, job_id: str, digest: str, records: Records) -> None:
    wanted = IdempotencyRecord(
        owner=owner, idempotency_key=key, job_id=job_id, request_sha256=digest
    )
    if records.add(wanted):
        return
    there = records.get(IdempotencyRecord, wanted.partition(), wanted.sort())
    if there is not None and there.request_sha256 != digest:
        raise Conflict(f"idempotency key '{key}' was used for another request, {there.job_id}")


def _stored(request: JobRequest, artifacts: Artifacts) -> object:
    """The source as it is kept: uploaded bytes become an artifact named by their digest."""
    source = request.source
    if isinstance(source, KeySource):
        try:
            size = artifacts.size(source.key)
        except NotFound as missing:
            raise BadRequest(f"nothing was uploaded to '{source.key}'") from missing
        if size > MOST_BYTES:
            raise SourceTooLarge(f"the archive has {size} bytes; at most {MOST_BYTES} are taken")
        return source
    if not isinstance(source, UploadSource):
        return source
    try:
        data = base64.b64decode(source.zip_base64, validate=True)
    except binascii.Error as error:
        raise BadRequest(f"source.zip_base64 is not base64: {error}") from error
    if len(data) > MOST_INLINE:
        raise SourceTooLarge(
            f"the archive has {len(data)} bytes; up to {MOST_INLINE} go in a request, "
            "larger ones by POST /uploads"
        )
    check_source(data)
    key = keys.upload(hashlib.sha256(data).hexdigest())
    artifacts.put_new(key, data)
    return KeySource(key=key)
