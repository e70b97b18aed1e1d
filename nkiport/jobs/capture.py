"""Capture: run a kernel's reference, and write down what it is."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from nkiport.contracts import keys
from nkiport.contracts.capture import Reference
from nkiport.contracts.discovery import Discovery, FoundKernel
from nkiport.contracts.errors import BadSource, CaptureFailed, NotFound
from nkiport.contracts.jobs import Job, Kernel
from nkiport.contracts.steps import DeviceResult, DeviceTask
from nkiport.jobs.ports import Artifacts, Records, References
from nkiport.jobs.source import unpack_source

MOST_REASON = 1500


def capture(
    task: DeviceTask, *, artifacts: Artifacts, records: Records, references: References
) -> DeviceResult:
    """Write the capture of one kernel; what cannot be captured is a result with its reason.

    Raises ``NotFound`` for a kernel that discovery did not record.
    """
    started = time.monotonic()
    key, reason = keys.capture(task.job_id, task.kernel_id), ""
    try:
        reference = _reference(task, artifacts, records)
        with TemporaryDirectory() as folder:
            unpack_source(artifacts.get(keys.source(task.job_id)), Path(folder))
            captured = references.capture(reference, Path(folder))
        artifacts.put(key, captured.model_dump_json().encode())
    except (CaptureFailed, BadSource) as failed:
        reason = str(failed)[:MOST_REASON]
    return DeviceResult(
        job_id=task.job_id,
        kernel_id=task.kernel_id,
        step="capture",
        outcome="failed" if reason else "passed",
        reason=reason,
        report_key=None if reason else key,
        seconds=time.monotonic() - started,
    )


def _reference(task: DeviceTask, artifacts: Artifacts, records: Records) -> Reference:
    """The job's own word first, then what discovery proposes."""
    kernel = records.get(Kernel, f"JOB#{task.job_id}", f"KERNEL#{task.kernel_id}")
    if kernel is None:
        raise NotFound(f"job '{task.job_id}' has no kernel '{task.kernel_id}'")
    job = records.get(Job, f"JOB#{task.job_id}", "JOB")
    asked = job.request.kernels if job else {}
    for name in (kernel.kernel_id, kernel.name):
        if name in asked and asked[name].reference:
            return asked[name].reference  # type: ignore[return-value]  # just checked
    if kernel.reference:
        return kernel.reference
    raise CaptureFailed(_missing(task, artifacts))


def _missing(task: DeviceTask, artifacts: Artifacts) -> str:
    found = Discovery.model_validate_json(artifacts.get(keys.discovery(task.job_id)))
    kernel = next((k for k in found.kernels if k.kernel_id == task.kernel_id), None)
    needs = "; ".join(kernel.missing) if kernel else ""
    return f"there is nothing to compare with: {needs or 'give a reference in the job'}"


def proposed(kernel: FoundKernel) -> Reference | None:
    """The reference that discovery proposes for a kernel, if it found one."""
    if kernel.missing:
        return None
    if kernel.kind == "module":
        return Reference(kind="module", file=kernel.file, symbol=kernel.name)
    place = kernel.proposed_reference if kernel.kind == "cuda" else kernel.launcher
    if not place:
        return None
    file, _, symbol = place.rpartition(":")
    kind = "module" if kernel.kind == "cuda" else "function"
    return Reference(kind=kind, file=file, symbol=symbol)
