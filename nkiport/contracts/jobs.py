"""Jobs, kernels, gates and attempts: what the service remembers.

Every record is stored under ``partition()`` and ``sort()`` and carries a ``version`` that a
conditional write compares.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from nkiport.contracts.base import (
    BackendName,
    Contract,
    JobId,
    KernelId,
    Key,
    Sha256,
    Stage,
    TargetName,
)
from nkiport.contracts.capture import Reference
from nkiport.contracts.judgement import Requirements

GateName = Literal["scope", "requirements"]
JobStatus = Literal[
    "queued", "discovering", "waiting_scope", "capturing", "waiting_requirements", "migrating",
    "delivering", "delivered", "nothing_found", "nothing_accepted", "gate_rejected",
    "gate_expired", "bad_source", "cancelled", "failed",
]  # fmt: skip
ENDED: frozenset[JobStatus] = frozenset(
    {
        "delivered", "nothing_found", "nothing_accepted", "gate_rejected", "gate_expired",
        "bad_source", "cancelled", "failed",
    }
)  # fmt: skip
"""The statuses a job never leaves."""

KernelOutcome = Literal["accepted", "accepted_slow", "abandoned", "not_judged"]
KernelStatus = Literal["found", "captured", "not_captured", "migrating"] | KernelOutcome


class UploadSource(Contract):
    """A zip given in the request (base64, at most 4 MiB) or put there by ``POST /uploads``."""

    kind: Literal["upload"] = "upload"
    zip_base64: str = Field(max_length=6 * 1024 * 1024)


class GitSource(Contract):
    """A repository at a full commit id."""

    kind: Literal["git"] = "git"
    url: str = Field(max_length=2000)
    commit: str = Field(pattern=r"^[0-9a-f]{40}$")


class KeySource(Contract):
    """A zip that lies in the artifact bucket under ``uploads/``."""

    kind: Literal["key"] = "key"
    key: str = Field(pattern=r"^uploads/[\w./-]{1,200}\.zip$")


Source = Annotated[UploadSource | GitSource | KeySource, Field(discriminator="kind")]


class KernelRequest(Contract):
    """What the job says of one kernel, by the name or id discovery gives it."""

    reference: Reference | None = None


class Delivery(Contract):
    """Where accepted kernels go beside the patch, which is always written."""

    github_repository: str | None = Field(default=None, pattern=r"^[\w.-]+/[\w.-]+$")
    base_branch: str = "main"


class JobRequest(Contract):
    """The body of ``POST /jobs``."""

    source: Source
    backend: BackendName = "auto"
    target: TargetName = "trn1"
    kernels: dict[str, KernelRequest] = {}
    requirements: Requirements = Requirements()
    delivery: Delivery = Delivery()
    notify: str | None = Field(default=None, description="an e-mail address for gates")
    deadline_hours: float = Field(default=72, gt=0, le=24 * 14)
    idempotency_key: str | None = Field(default=None, max_length=128)


class Record(Contract):
    """A stored record; ``version`` grows by one with each accepted write."""

    version: int = 0

    def partition(self) -> str:
        """The record's partition key."""
        raise NotImplementedError

    def sort(self) -> str:
        """The record's sort key inside its partition."""
        raise NotImplementedError


class Job(Record):
    """One migration."""

    job_id: JobId
    request: JobRequest = Field(description="the source's bytes are replaced by their key")
    request_sha256: Sha256
    owner: str = "local"
    status: JobStatus = "queued"
    reason: str = ""
    created: datetime
    updated: datetime
    deadline: datetime
    found: int = 0
    worker_seconds: float = 0
    model_seconds: float = 0

    def partition(self) -> str:
        return f"JOB#{self.job_id}"

    def sort(self) -> str:
        return "JOB"


class Kernel(Record):
    """One kernel of a job, chosen at gate 1."""

    job_id: JobId
    kernel_id: KernelId
    name: str
    kind: str
    file: str
    line: int
    status: KernelStatus = "found"
    reason: str = ""
    reference: Reference | None = None
    attempt: int = Field(default=0, description="the attempt under way or the last one")
    started: datetime | None = None
    accepted_attempt: int | None = None
    escalated: bool = False

    def partition(self) -> str:
        return f"JOB#{self.job_id}"

    def sort(self) -> str:
        return f"KERNEL#{self.kernel_id}"


class Attempt(Record):
    """One turn of the loop: who wrote the candidate, and how far it came."""

    job_id: JobId
    kernel_id: KernelId
    attempt: int
    backend: BackendName
    why: str = Field(description="the router's reason")
    status: Literal["planned", "generated", "not_generated", "judged"] = "planned"
    candidate_key: Key | None = None
    candidate_sha256: Sha256 | None = None
    failed_stage: Stage | Literal["generate"] | None = None
    failure_digest: str = Field(default="", description="the same failure gives the same digest")
    feedback: str = ""
    accepted: bool = False

    def partition(self) -> str:
        return f"JOB#{self.job_id}"

    def sort(self) -> str:
        return f"ATTEMPT#{self.kernel_id}#{self.attempt:04d}"


class Gate(Record):
    """A question a person answers once."""

    job_id: JobId
    gate: GateName
    task_token: str
    opened: datetime
    expires: datetime
    link_nonce_sha256: Sha256 | None = None
    status: Literal["open", "approved", "rejected", "expired"] = "open"
    answered_by: str = ""
    answered: datetime | None = None
    kernels: tuple[KernelId, ...] = ()
    requirements: Requirements | None = None

    def partition(self) -> str:
        return f"JOB#{self.job_id}"

    def sort(self) -> str:
        return f"GATE#{self.gate}"


class LedgerEntry(Record):
    """One billed call, reserved before it is made and settled after."""

    job_id: JobId
    kernel_id: KernelId
    call_id: str
    backend: BackendName
    model: str
    reserved_usd: float
    usd: float | None = Field(default=None, description="None until settled")
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0
    at: datetime

    def partition(self) -> str:
        return f"JOB#{self.job_id}"

    def sort(self) -> str:
        return f"LEDGER#{self.kernel_id}#{self.call_id}"


class WorkEntry(Record):
    """How long a worker took for one task; the same task done twice counts once."""

    job_id: JobId
    kernel_id: KernelId
    step: str
    attempt: int
    seconds: float

    def partition(self) -> str:
        return f"JOB#{self.job_id}"

    def sort(self) -> str:
        return f"WORK#{self.kernel_id}#{self.attempt:04d}#{self.step}"


class IdempotencyRecord(Record):
    """The job that an idempotency key of an owner started."""

    owner: str
    idempotency_key: str
    job_id: JobId
    request_sha256: Sha256

    def partition(self) -> str:
        return f"OWNER#{self.owner}"

    def sort(self) -> str:
        return f"IDEMPOTENCY#{self.idempotency_key}"
