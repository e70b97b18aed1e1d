"""EmitDiff: the signed evidence of each accepted kernel, and one patch for the job."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import nkiport
import nkiport.judge.evidence as proof
from nkiport.contracts import keys
from nkiport.contracts.errors import NotFound
from nkiport.contracts.evidence import Environment, Evidence
from nkiport.contracts.jobs import Attempt, Kernel
from nkiport.contracts.judgement import Seed, StageReport, Verdict
from nkiport.contracts.steps import EmitDiffRequest, EmitDiffResult
from nkiport.delivery import Tree, evidence_in, patch_of, report_of
from nkiport.delivery.files import FOLDER
from nkiport.jobs.delivered import (
    ACCEPTED,
    accepted_attempt,
    all_files,
    delivered_kernels,
    kernels_of,
)
from nkiport.jobs.generate import attempts_of, oracle_of
from nkiport.jobs.ledger import entries
from nkiport.jobs.ports import Artifacts, Clock, Records

PACKAGES = ("numpy", "ml_dtypes", "torch", "triton", "pydantic")


def emit_diff(
    request: EmitDiffRequest,
    *,
    records: Records,
    artifacts: Artifacts,
    signer: Any,
    clock: Clock,
) -> EmitDiffResult:
    """Write the evidence, the report and the patch; the same job gives the same files.

    Raises ``UnsafePath`` if the source has a link where a file is to be written.
    """
    kernels = kernels_of(request.job_id, records)
    accepted = [kernel for kernel in kernels if kernel.status in ACCEPTED]
    for kernel in accepted:
        if not artifacts.keys(keys.evidence(kernel.job_id, kernel.kernel_id, "md")):
            _seal(kernel, records, artifacts, signer, clock)
    delivered = delivered_kernels(request.job_id, records, artifacts)
    others = [kernel for kernel in kernels if kernel.status not in ACCEPTED]
    report = report_of(request.job_id, [each.evidence for each in delivered], others)
    artifacts.put(keys.report_of_job(request.job_id), report.encode())
    reason = f"{len(accepted)} of {len(kernels)} kernels were accepted"
    if not accepted:
        return EmitDiffResult(job_id=request.job_id, accepted=0, reason=_why_none(reason, others))
    tree = Tree.from_zip(artifacts.get(keys.source(request.job_id)), FOLDER)
    patch = patch_of(all_files(delivered), tree)
    artifacts.put(keys.patch(request.job_id), patch)
    return EmitDiffResult(
        job_id=request.job_id,
        accepted=len(accepted),
        patch_key=keys.patch(request.job_id),
        reason=reason,
    )


def _seal(
    kernel: Kernel, records: Records, artifacts: Artifacts, signer: Any, clock: Clock
) -> None:
    """Sign once: whoever comes second leaves the first one's evidence."""
    evidence = _evidence(kernel, records, artifacts, clock)
    job_id, kernel_id = kernel.job_id, kernel.kernel_id
    signed = proof.envelope(evidence, signer)
    artifacts.put_new(keys.evidence(job_id, kernel_id, "json"), signed)
    stored = evidence_in(artifacts.get(keys.evidence(job_id, kernel_id, "json")))
    artifacts.put(keys.evidence(job_id, kernel_id, "md"), proof.markdown(stored).encode())


def _evidence(kernel: Kernel, records: Records, artifacts: Artifacts, clock: Clock) -> Evidence:
    job_id, kernel_id, number = kernel.job_id, kernel.kernel_id, accepted_attempt(kernel)
    oracle = oracle_of(job_id, kernel_id, artifacts)
    report = artifacts.get(keys.report(job_id, kernel_id, number, "verify"))
    verdict = Verdict.model_validate_json(artifacts.get(keys.verdict(job_id, kernel_id, number)))
    attempts = attempts_of(job_id, kernel_id, records)
    bill = entries(records, job_id, kernel_id)
    return Evidence(
        job_id=job_id,
        kernel_id=kernel_id,
        kernel=kernel.name,
        kind=kernel.kind,
        file=kernel.file,
        level=verdict.level,
        target=oracle.target,
        engine=StageReport.model_validate_json(report).engine,
        backend=_attempt(attempts, number).backend,
        attempts=len(attempts),
        oracle=oracle,
        seed=Seed.model_validate_json(artifacts.get(keys.seed(job_id, kernel_id))),
        reference_sha256=oracle.source_sha256,
        candidate_sha256=verdict.candidate_sha256,
        verdict=verdict,
        tokens=sum(entry.input_tokens + entry.output_tokens for entry in bill),
        usd=sum(entry.usd or 0.0 for entry in bill),
        environment=environment(),
        finished=clock.now(),
    )


def environment() -> Environment:
    """Versions of what runs this step; the engine names its own in its reports."""
    return Environment(
        nkiport=nkiport.__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        packages={name: found for name in PACKAGES if (found := _version(name))},
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _attempt(attempts: list[Attempt], number: int) -> Attempt:
    found = next((attempt for attempt in attempts if attempt.attempt == number), None)
    if found is None:
        raise NotFound(f"accepted attempt {number} has no record")
    return found


def _why_none(reason: str, others: list[Kernel]) -> str:
    whys = [f"{kernel.name}: {kernel.reason or kernel.status}" for kernel in others]
    return "; ".join([reason, *whys])[:1500]
