"""The tools as functions. Their names, parameters and result fields are a published contract."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import BaseModel

from nkiport.contracts.base import slug
from nkiport.contracts.errors import BadRequest, Sealed
from nkiport.contracts.judgement import Check, Requirements, Tolerance, Verdict
from nkiport.contracts.tensors import InputSpec
from nkiport.delivery.patch import patch_of
from nkiport.delivery.paths import Tree
from nkiport.discovery import discover
from nkiport.engines import FunctionalEngine
from nkiport.generation import set_up
from nkiport.judge.performance import roofline_share
from nkiport.local.loop import judge_files, migrate
from nkiport.mcp_server.references import reference_file
from nkiport.mcp_server.sealed import delivered_patch, sealed_kernel
from nkiport.skills import lookup

Result = dict[str, Any]
ALIASES = {"auto": "auto", "recipes": "recipes", "opus-4-8": "claude", "claude": "claude",
           "qwen3-sft-v4": "custom_import", "vllm": "vllm"}  # fmt: skip
NO_DEVICE = "no device: the times are estimates of the cost model"


class Spec(BaseModel):
    """Shape and dtype of one input."""

    shape: tuple[int, ...]
    dtype: str = "float32"


def nki_discover_kernels(repo_root: str) -> Result:
    """Find Triton, CUDA and PyTorch kernels in a source tree, without importing any of it."""
    root = Path(repo_root)
    if not root.is_dir():
        raise BadRequest(f"there is no folder '{repo_root}'")
    found = discover(root)
    listed = [*found.kernels, *found.already_nki]
    return {
        "repo_root": str(root),
        "candidates": [
            {
                "file": k.file, "line": k.line, "function": k.name, "signature": k.signature,
                "kind": "module_forward" if k.kind == "module" else k.kind,
                "hot": k.rank >= 1, "already_nki": k.kind == "nki", "snippet": k.snippet,
                "kernel_id": k.kernel_id, "missing": list(k.missing),
            }
            for k in listed
        ],
        "skipped": [each.model_dump() for each in found.skipped],
    }  # fmt: skip


def nki_generate_kernel(
    description: str = "",
    reference_source: str = "",
    input_specs: list[Spec] | None = None,
    model: str = "auto",
    max_turns: int = 10,
    constraints: dict[str, float] | None = None,
    job_id: str = "",
    kernel_id: str = "",
) -> Result:
    """Write an NKI kernel for a reference and judge it; a sealed kernel's result by its job."""
    if job_id:
        _refuse(reference_source, input_specs, constraints)
        return sealed_kernel(job_id, kernel_id)
    started = time.monotonic()
    if ALIASES.get(model) not in {"auto", "recipes"}:
        raise BadRequest(f"model '{model}' runs in a service; submit a job with that backend")
    asked = constraints or {}
    limits = Requirements(max_turns=max_turns, tolerance=_tolerance(**asked))
    with TemporaryDirectory() as folder:
        file = reference_file(
            Path(folder), reference_source, input_specs, slug(description or "kernel")
        )
        done = migrate(file, backends=set_up(), requirements=limits, told=_quiet)
    verdict = done.verdict
    return {
        "status": _status(verdict), "mode": "unsealed", "model_used": "recipes", "model_id": None,
        "kernel_source": done.source, "compiled": _passed(verdict, "compile"),
        "correct": _passed(verdict, "numbers"), "compile": _stage(verdict, "compile"),
        "verify": _stage(verdict, "numbers"), "profile": _stage(verdict, "performance"),
        "turns_used": verdict.attempt if verdict else 0, "tool_calls_used": 0,
        "wall_time_s": time.monotonic() - started, "error": done.reason or None,
    }  # fmt: skip


def nki_compile(
    kernel_source: str = "",
    input_specs: list[Spec] | None = None,
    kernel_name: str = "nki_kernel",
    optimization_level: int = 2,
    job_id: str = "",
    kernel_id: str = "",
) -> Result:
    """Check a kernel: every finding at once. With input specs it is also run once."""
    if job_id:
        _refuse(kernel_source, input_specs)
        return sealed_kernel(job_id, kernel_id)
    started = time.monotonic()
    inputs = _inputs(input_specs or [])
    checks = FunctionalEngine().compile(kernel_source, inputs)[: None if inputs else 1]
    found = [finding for check in checks for finding in check.findings]
    failed = any(check.result == "failed" for check in checks)
    return {
        "success": not failed, "neff_path": None, "returncode": int(failed),
        "errors": [f.sentence(kernel_name) for f in found if f.severity == "error"],
        "warnings": [f.sentence(kernel_name) for f in found if f.severity == "warning"],
        "stderr_tail": [], "compile_time_s": time.monotonic() - started, "mode": "unsealed",
        "optimization_level": optimization_level, "level": "functional",
    }  # fmt: skip


def nki_verify(
    kernel_source: str = "",
    reference_source: str = "",
    input_specs: list[Spec] | None = None,
    kernel_name: str = "nki_kernel",
    atol: float = 1e-3,
    rtol: float = 1e-3,
    job_id: str = "",
    kernel_id: str = "",
) -> Result:
    """Compare a kernel with its reference on inputs it cannot know; every check is returned."""
    if job_id:
        _refuse(kernel_source, reference_source, input_specs)
        return sealed_kernel(job_id, kernel_id)
    started = time.monotonic()
    limits = Requirements(tolerance=Tolerance(atol=atol, rtol=rtol))
    with TemporaryDirectory() as folder:
        file = reference_file(Path(folder), reference_source, input_specs, slug(kernel_name))
        candidate = Path(folder) / "candidate.py"
        candidate.write_text(kernel_source)
        verdict = judge_files(file, candidate, requirements=limits, told=_quiet)
    numbers = _numbers(verdict)
    return {
        "correct": verdict.outcome != "rejected", "max_abs_error": numbers.get("max_abs_error"),
        "max_rel_error": numbers.get("worst_relative_error"), "atol": atol, "rtol": rtol,
        "mismatched_elements": None, "total_elements": None,
        "verify_time_s": time.monotonic() - started, "error": verdict.feedback or None,
        "mode": "unsealed", "level": verdict.level,
        "checks": [check.model_dump(mode="json") for check in verdict.checks],
    }  # fmt: skip


def nki_profile(
    kernel_source: str = "",
    input_specs: list[Spec] | None = None,
    kernel_name: str = "nki_kernel",
    warmup_runs: int = 5,
    measure_runs: int = 20,
    job_id: str = "",
    kernel_id: str = "",
) -> Result:
    """Estimate a kernel's latency. Without a device nothing is measured, and the result says so."""
    if job_id:
        _refuse(kernel_source, input_specs)
        return sealed_kernel(job_id, kernel_id)
    started = time.monotonic()
    with TemporaryDirectory() as folder:
        profile = FunctionalEngine().profile(
            kernel_source, _inputs(input_specs or []), Path(folder)
        )
    failed = profile.check.result == "failed"
    measured = dict.fromkeys(("mean", "median", "p99", "min", "max"))
    return {
        "success": not failed, **{f"latency_{name}_us": None for name in measured},
        "estimate_us": profile.p50_us, "estimate_low_us": profile.low_us,
        "estimate_high_us": profile.high_us,
        "roofline_share": roofline_share(profile, profile.floor_us),
        "bound_by": profile.bound_by, "throughput_ops_per_s": None, "flops_utilization": None,
        "warmup_runs": warmup_runs, "measure_runs": measure_runs, "reason": NO_DEVICE,
        "profile_time_s": time.monotonic() - started, "level": "functional",
        "error": profile.check.detail if failed else None, "kernel_name": kernel_name,
    }  # fmt: skip


def nki_skill_lookup(query: str, top_k: int = 5, skill_category: str | None = None) -> Result:
    """Look up patterns, recipes and mistakes; a score of 0.75 or more describes the question."""
    if skill_category not in {None, "pattern", "recipe", "mistake"}:
        raise BadRequest(f"there is no category '{skill_category}'; pattern, recipe or mistake")
    hits = lookup(query, top=top_k, category=skill_category)  # type: ignore[arg-type]
    return {
        "results": [
            {"skill_id": h.entry.id, "title": h.entry.title, "content": h.entry.text,
             "category": h.entry.category, "relevance_score": h.score}
            for h in hits
        ],
        "total_matches": len(hits),
    }  # fmt: skip


def nki_emit_diff(
    repo_root: str = "",
    target_file: str = "",
    new_source: str = "",
    open_pr: bool = False,
    pr_title: str = "",
    pr_body: str = "",
    job_id: str = "",
) -> Result:
    """A patch that 'git apply' takes; nothing is written. A job's patch comes with evidence."""
    if job_id:
        _refuse(target_file, new_source)
        return _diff(delivered_patch(job_id))
    if open_pr:
        raise BadRequest(
            f"a pull request ('{pr_title or 'untitled'}', {len(pr_body)} characters) needs "
            "evidence: submit a job with a repository to deliver to"
        )
    root = Path(repo_root)
    if not root.is_dir():
        raise BadRequest(
            f"there is no folder '{repo_root}'; "
            "give repo_root, target_file and new_source, or job_id alone"
        )
    return _diff(patch_of({target_file: new_source.encode()}, _tree_at(root, target_file)).decode())


def _diff(patch: str) -> Result:
    return {"ok": True, "diff": patch, "applied_to": None, "pr_url": None, "branch": None,
            "error": None}  # fmt: skip


def _quiet(_line: str) -> None:
    """Stdout belongs to the protocol."""


def _tree_at(root: Path, target: str) -> Tree:
    """The file that is there, and the links on the way to it."""
    path = root / target
    way = [each for each in (path, *path.parents) if each != root and each.is_relative_to(root)]
    links = frozenset(each.relative_to(root).as_posix() for each in way if each.is_symlink())
    inside = path.resolve().is_relative_to(root.resolve()) and path.is_file()
    return Tree({target: path.read_bytes()} if inside else {}, links)


def _refuse(*given: Any) -> None:
    if any(given):
        raise Sealed(
            "with job_id and kernel_id the gate's own reference, shapes and tolerance hold; "
            "give nothing else"
        )


def _tolerance(atol: float = 1e-3, rtol: float = 1e-3, **unknown: float) -> Tolerance:
    if unknown:
        raise BadRequest(f"constraints are atol and rtol; {', '.join(unknown)} is none of them")
    return Tolerance(atol=atol, rtol=rtol)


def _inputs(specs: list[Spec]) -> list[InputSpec]:
    return [
        InputSpec.model_validate({"name": f"input_{i}", "shape": s.shape, "dtype": s.dtype})
        for i, s in enumerate(specs)
    ]


def _status(verdict: Verdict | None) -> str:
    if verdict is None:
        return "failed"
    if verdict.outcome != "rejected":
        return "success"
    return "compiled" if _passed(verdict, "compile") else "failed"


def _checks(verdict: Verdict | None, stage: str) -> list[Check]:
    return [check for check in verdict.checks if check.stage == stage] if verdict else []


def _passed(verdict: Verdict | None, stage: str) -> bool:
    results = {check.result for check in _checks(verdict, stage)}
    return "passed" in results and "failed" not in results


def _stage(verdict: Verdict | None, stage: str) -> list[Result]:
    return [check.model_dump(mode="json") for check in _checks(verdict, stage)]


def _numbers(verdict: Verdict) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for check in verdict.checks:
        found |= check.numbers
    return found
