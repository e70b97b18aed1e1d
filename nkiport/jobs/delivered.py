"""What a job delivers: the accepted kernels whose evidence is written, and their files."""

from nkiport.contracts import keys
from nkiport.contracts.base import JobId
from nkiport.contracts.jobs import Kernel
from nkiport.delivery import Delivered, evidence_in, files_of
from nkiport.jobs.ports import Artifacts, Records

ACCEPTED = frozenset({"accepted", "accepted_slow"})


def kernels_of(job_id: JobId, records: Records) -> list[Kernel]:
    """The kernels of a job, by id."""
    return records.query(Kernel, f"JOB#{job_id}", "KERNEL#")


def accepted_attempt(kernel: Kernel) -> int:
    """The number of the attempt whose candidate is delivered."""
    return kernel.accepted_attempt or kernel.attempt


def delivered_kernels(job_id: JobId, records: Records, artifacts: Artifacts) -> list[Delivered]:
    """The accepted kernels, each with what was signed for it. Raises ``NotFound`` before that."""
    accepted = [kernel for kernel in kernels_of(job_id, records) if kernel.status in ACCEPTED]
    return [_delivered(kernel, artifacts) for kernel in accepted]


def all_files(delivered: list[Delivered]) -> dict[str, bytes]:
    """Path to bytes of everything that is delivered."""
    return {path: data for each in delivered for path, data in files_of(each).items()}


def _delivered(kernel: Kernel, artifacts: Artifacts) -> Delivered:
    job_id, kernel_id = kernel.job_id, kernel.kernel_id
    signed = artifacts.get(keys.evidence(job_id, kernel_id, "json"))
    text = artifacts.get(keys.evidence(job_id, kernel_id, "md")).decode()
    candidate = artifacts.get(keys.candidate(job_id, kernel_id, accepted_attempt(kernel)))
    return Delivered(evidence_in(signed), candidate, signed, text)
