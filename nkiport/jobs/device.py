"""Compile, Verify and Profile: what a worker does with one attempt's candidate.

Each writes a report and returns whether it passed. The candidate runs before the reference, and
neither sees the other.
"""

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from nkiport.contracts import keys
from nkiport.contracts.judgement import Check, Oracle, Seed, StageReport
from nkiport.contracts.steps import DeviceResult, DeviceTask
from nkiport.jobs.generate import oracle_of
from nkiport.jobs.ports import Artifacts, Engine, Inputs, Records, References
from nkiport.jobs.source import unpack_source
from nkiport.judge.condition import against_reference
from nkiport.judge.performance import performance
from nkiport.judge.plausibility import plausibility
from nkiport.judge.policy import policy

MOST_REASON = 1500
"""Characters of a reason that travels through the state machine; the report has all of it."""


def compile_candidate(
    task: DeviceTask,
    *,
    artifacts: Artifacts,
    records: Records,  # noqa: ARG001 - the three device steps are called alike
    engine: Engine,
    references: References,  # noqa: ARG001
    inputs: Inputs,  # noqa: ARG001
) -> DeviceResult:
    """Read the text, then compile or check it: every finding at once."""
    started = time.monotonic()
    oracle, source = _given(task, artifacts)
    read = policy(source, oracle.inputs)
    checks = (read,) if read.result == "failed" else (read, *engine.compile(source, oracle.inputs))
    return _report(task, source, checks, engine, artifacts, started)


def verify_candidate(
    task: DeviceTask,
    *,
    artifacts: Artifacts,
    records: Records,  # noqa: ARG001
    engine: Engine,
    references: References,
    inputs: Inputs,
) -> DeviceResult:
    """Run the candidate on inputs it cannot know, then the reference, and compare.

    Raises ``DeviceLost`` for trouble that is not the candidate's, ``CaptureFailed`` if the
    reference no longer runs.
    """
    started = time.monotonic()
    oracle, source = _given(task, artifacts)
    seed = Seed.model_validate_json(artifacts.get(keys.seed(task.job_id, task.kernel_id)))
    trials = inputs.trials(oracle, seed)
    with TemporaryDirectory() as scratch:
        runs = engine.run(source, trials, Path(scratch))
    checks: tuple[Check, ...] = (runs.check,)
    if runs.check.result != "failed":
        with _tree(task, artifacts) as tree:
            reference = partial(references.golden, oracle, tree)
            checks += against_reference(oracle, trials, runs.outputs, reference)
    return _report(task, source, checks, engine, artifacts, started)


def profile_candidate(
    task: DeviceTask,
    *,
    artifacts: Artifacts,
    records: Records,  # noqa: ARG001
    engine: Engine,
    references: References,  # noqa: ARG001
    inputs: Inputs,  # noqa: ARG001
) -> DeviceResult:
    """Measure or estimate the latency, and ask whether honest work could have it."""
    started = time.monotonic()
    oracle, source = _given(task, artifacts)
    with TemporaryDirectory() as scratch:
        profile = engine.profile(source, oracle.inputs, Path(scratch))
    checks: tuple[Check, ...] = (profile.check,)
    if profile.check.result != "failed":
        speed = performance(oracle, profile, engine.level)
        checks += (plausibility(oracle, profile), speed)
    return _report(task, source, checks, engine, artifacts, started)


def _given(task: DeviceTask, artifacts: Artifacts) -> tuple[Oracle, str]:
    candidate = artifacts.get(keys.candidate(task.job_id, task.kernel_id, task.attempt))
    return oracle_of(task.job_id, task.kernel_id, artifacts), candidate.decode()


@contextmanager
def _tree(task: DeviceTask, artifacts: Artifacts) -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        unpack_source(artifacts.get(keys.source(task.job_id)), Path(folder))
        yield Path(folder)


def _report(
    task: DeviceTask,
    source: str,
    checks: Sequence[Check],
    engine: Engine,
    artifacts: Artifacts,
    started: float,
) -> DeviceResult:
    report = StageReport(
        job_id=task.job_id,
        kernel_id=task.kernel_id,
        attempt=task.attempt,
        step=task.step,
        level=engine.level,
        engine=engine.name,
        checks=tuple(checks),
        seconds=time.monotonic() - started,
        candidate_sha256=hashlib.sha256(source.encode()).hexdigest(),
    )
    key = keys.report(task.job_id, task.kernel_id, task.attempt, task.step)
    artifacts.put(key, report.model_dump_json().encode())
    failed = next((check for check in checks if check.result == "failed"), None)
    right = failed is None or failed.stage == "performance"  # speed is for the judge to weigh
    return DeviceResult(
        job_id=task.job_id,
        kernel_id=task.kernel_id,
        step=task.step,
        attempt=task.attempt,
        outcome="passed" if right else "failed",
        reason=failed.detail[:MOST_REASON] if failed else "",
        report_key=key,
        seconds=report.seconds,
    )
