"""Where every artifact lies in the bucket. No other file builds a key."""

from nkiport.contracts.base import JobId, KernelId, Key


def upload(digest: str) -> Key:
    """An uploaded source archive, by its SHA-256."""
    return f"uploads/{digest}.zip"


def source(job_id: JobId) -> Key:
    """The source tree a job works on, as one deterministic zip."""
    return f"jobs/{job_id}/source.zip"


def discovery(job_id: JobId) -> Key:
    """Everything the static walk found and skipped."""
    return f"jobs/{job_id}/discovery.json"


def capture(job_id: JobId, kernel_id: KernelId) -> Key:
    """The captured reference: specs, graph, notes."""
    return f"jobs/{job_id}/kernels/{kernel_id}/capture.json"


def oracle(job_id: JobId, kernel_id: KernelId) -> Key:
    """The sealed oracle record: public part, with the seed's commitment."""
    return f"jobs/{job_id}/kernels/{kernel_id}/oracle.json"


def seed(job_id: JobId, kernel_id: KernelId) -> Key:
    """The secret seed; only the gate writes it and only the worker reads it."""
    return f"sealed/{job_id}/{kernel_id}.json"


def candidate(job_id: JobId, kernel_id: KernelId, attempt: int) -> Key:
    """The source of one attempt's candidate."""
    return f"jobs/{job_id}/kernels/{kernel_id}/attempts/{attempt}/candidate.py"


def report(job_id: JobId, kernel_id: KernelId, attempt: int, step: str) -> Key:
    """What one device step of one attempt reported: compile, verify or profile."""
    return f"jobs/{job_id}/kernels/{kernel_id}/attempts/{attempt}/{step}.json"


def verdict(job_id: JobId, kernel_id: KernelId, attempt: int) -> Key:
    """The judged attempt."""
    return f"jobs/{job_id}/kernels/{kernel_id}/attempts/{attempt}/verdict.json"


def transcript(job_id: JobId, kernel_id: KernelId, attempt: int) -> Key:
    """What was sent to a model and what it answered, for one attempt."""
    return f"jobs/{job_id}/kernels/{kernel_id}/attempts/{attempt}/transcript.json"


def evidence(job_id: JobId, kernel_id: KernelId, suffix: str) -> Key:
    """The evidence of an ended kernel: ``json`` (signed) or ``md``."""
    return f"jobs/{job_id}/kernels/{kernel_id}/evidence.{suffix}"


def handoff(job_id: JobId, kernel_id: KernelId) -> Key:
    """What a person needs to go on with an abandoned kernel."""
    return f"jobs/{job_id}/kernels/{kernel_id}/handoff.md"


def patch(job_id: JobId) -> Key:
    """The patch that ``git apply`` takes."""
    return f"jobs/{job_id}/migration.patch"


def report_of_job(job_id: JobId) -> Key:
    """The job's report as markdown."""
    return f"jobs/{job_id}/report.md"


def bench_baseline() -> Key:
    """The last benchmark's report, which the next one is compared with."""
    return "bench/baseline.json"


def bench_report(run_id: str) -> Key:
    """A benchmark's stored report."""
    return f"bench/{run_id}/report.json"
