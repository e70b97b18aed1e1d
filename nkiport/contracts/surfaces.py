"""What surfaces return: records without what a caller has no business to see."""

from datetime import datetime

from pydantic import Field

from nkiport.contracts.base import BackendName, Contract, JobId, KernelId, Key, TargetName
from nkiport.contracts.jobs import Gate, GateName, Job, JobStatus, Kernel
from nkiport.contracts.judgement import Requirements


class GateView(Contract):
    """A gate without its task token."""

    gate: GateName
    status: str
    opened: datetime
    expires: datetime
    answered_by: str = ""
    answered: datetime | None = None
    kernels: tuple[KernelId, ...] = ()
    requirements: Requirements | None = None

    @classmethod
    def of(cls, gate: Gate) -> "GateView":
        """Leave out the token and the link."""
        shown = gate.model_dump(include=set(cls.model_fields))
        return cls.model_validate(shown)


class KernelView(Contract):
    """One kernel of a job and how far it is."""

    kernel_id: KernelId
    name: str
    kind: str
    file: str
    line: int
    status: str
    reason: str = ""
    attempt: int = 0

    @classmethod
    def of(cls, kernel: Kernel) -> "KernelView":
        """What a person needs of a kernel."""
        return cls.model_validate(kernel.model_dump(include=set(cls.model_fields)))


class JobSummary(Contract):
    """A job in a list."""

    job_id: JobId
    status: JobStatus
    reason: str = ""
    created: datetime
    updated: datetime
    target: TargetName
    backend: BackendName

    @classmethod
    def of(cls, job: Job) -> "JobSummary":
        """The job in one line."""
        shown = job.model_dump(include=set(cls.model_fields))
        asked = {"target": job.request.target, "backend": job.request.backend}
        return cls.model_validate(shown | asked)


class JobView(JobSummary):
    """A job with everything that is known of it."""

    deadline: datetime
    requirements: Requirements
    gates: tuple[GateView, ...] = ()
    kernels: tuple[KernelView, ...] = ()
    tokens: int = 0
    usd: float = 0
    worker_seconds: float = 0
    model_seconds: float = 0


class JobList(Contract):
    """A page of an owner's jobs, newest first; ``next`` asks for the page after."""

    jobs: tuple[JobSummary, ...]
    next: JobId | None = None


class UploadRequest(Contract):
    """How large the archive is that will be put."""

    bytes: int = Field(gt=0)


class Upload(Contract):
    """Where to ``PUT`` an archive, and the key to name it by in ``POST /jobs``."""

    key: Key
    url: str
    seconds: int


class ArtifactLink(Contract):
    """An address from which one artifact can be read."""

    name: str
    bytes: int
    url: str


class GateBody(Contract):
    """The body of ``POST /jobs/{id}/gates/{gate}``."""

    decision: str = Field(pattern="^(approved|rejected)$")
    kernels: tuple[KernelId, ...] | None = None
    requirements: Requirements | None = None
