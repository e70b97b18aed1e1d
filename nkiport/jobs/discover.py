"""Discover: fetch a job's source, walk it, and record the kernels that were found."""

from pathlib import Path
from tempfile import TemporaryDirectory

from nkiport.contracts import keys
from nkiport.contracts.discovery import Discovery, FoundKernel
from nkiport.contracts.errors import BadSource, Conflict, NotFound, SourceTooLarge, StoreBusy
from nkiport.contracts.jobs import ENDED, GitSource, Job, Kernel, KeySource
from nkiport.contracts.steps import DiscoverRequest, DiscoverResult
from nkiport.discovery import discover as walk
from nkiport.jobs.capture import proposed
from nkiport.jobs.ports import Artifacts, Clock, GitSources, Records
from nkiport.jobs.source import MOST_BYTES, pack_tree, unpack_source


def discover(
    request: DiscoverRequest,
    *,
    artifacts: Artifacts,
    records: Records,
    git: GitSources,
    clock: Clock,
) -> DiscoverResult:
    """Find the job's kernels; a source that cannot be used is an outcome. Twice is once.

    Raises ``NotFound`` for a job nobody submitted, ``StoreBusy`` if it changed meanwhile.
    """
    job = records.get(Job, f"JOB#{request.job_id}", "JOB")
    if job is None:
        raise NotFound(f"there is no job '{request.job_id}'")
    if job.status in ENDED:
        return DiscoverResult(job_id=job.job_id, outcome="cancelled", reason=job.reason)
    _begin(job, records, clock)
    try:
        found = _walked(job, artifacts, git)
    except (BadSource, SourceTooLarge, NotFound) as refused:
        return DiscoverResult(job_id=job.job_id, outcome="bad_source", reason=str(refused)[:1500])
    for kernel in found.kernels:
        records.add(_record(job, kernel))
    if not found.kernels:
        return DiscoverResult(job_id=job.job_id, outcome="nothing_found", reason=_nothing(found))
    return DiscoverResult(job_id=job.job_id, outcome="found", found=len(found.kernels))


def _begin(job: Job, records: Records, clock: Clock) -> None:
    if job.status != "queued":
        return
    try:
        records.replace(job.model_copy(update={"status": "discovering", "updated": clock.now()}))
    except Conflict as lost:
        raise StoreBusy(f"job '{job.job_id}' changed while it was started") from lost


def _walked(job: Job, artifacts: Artifacts, git: GitSources) -> Discovery:
    with TemporaryDirectory() as folder:
        tree = Path(folder)
        _fetch(job, tree, artifacts, git)
        artifacts.put(keys.source(job.job_id), pack_tree(tree))
        found = walk(tree)
    artifacts.put(keys.discovery(job.job_id), found.model_dump_json().encode())
    return found


def _fetch(job: Job, tree: Path, artifacts: Artifacts, git: GitSources) -> None:
    source = job.request.source
    if isinstance(source, GitSource):
        git.fetch(source, tree, MOST_BYTES)
    elif isinstance(source, KeySource):
        size = artifacts.size(source.key)
        if size > MOST_BYTES:
            raise SourceTooLarge(f"the archive has {size} bytes; at most {MOST_BYTES} are taken")
        unpack_source(artifacts.get(source.key), tree)
    else:
        raise BadSource("an uploaded source is stored when the job is submitted; submit it again")


def _record(job: Job, kernel: FoundKernel) -> Kernel:
    return Kernel(
        job_id=job.job_id,
        kernel_id=kernel.kernel_id,
        name=kernel.name,
        kind=kernel.kind,
        file=kernel.file,
        line=kernel.line,
        reference=proposed(kernel),
    )


def _nothing(found: Discovery) -> str:
    skipped = f", {len(found.skipped)} skipped" if found.skipped else ""
    already = f", {len(found.already_nki)} kernels are NKI already" if found.already_nki else ""
    return (
        f"no kernel was found in {found.files_read} files{skipped}{already}; a kernel is a "
        "@triton.jit function, an nn.Module with a forward, or CUDA source"
    )
