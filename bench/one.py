"""One task: ``nkiport migrate FILE --json`` in a process of its own, read as a result."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bench.results import Outcome, TaskResult
from nkiport.contracts.judgement import Verdict

SHARE = "roofline_share"
"""The name of the number, in a verdict's checks, that says how near the roofline a kernel is."""


def migrate(task: str, file: Path, *, backend: str, seconds: float) -> TaskResult:
    """Migrate one file with the command that people use; it is killed when its time is over."""
    nkiport = str(Path(sys.executable).with_name("nkiport"))
    how = ["--backend", backend, "--seconds", str(math.ceil(seconds)), "--json"]
    return run_one(task, [nkiport, "migrate", str(file.resolve()), *how], backend, seconds)


def run_one(task: str, command: Sequence[str], backend: str, seconds: float) -> TaskResult:
    """Run a command that prints a verdict, with a time limit on all it starts."""
    started = time.monotonic()
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as child:
        try:
            out, err = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            return not_judged(task, backend, f"not finished after {seconds:g} seconds", seconds)
    took = time.monotonic() - started
    verdict = _verdict(out)
    if verdict is None and (reason := _abandoned(out)):
        return TaskResult(
            task=task, outcome="abandoned", backend=backend, failed_stage="generate",
            reason=reason[:500], seconds=took,
        )  # fmt: skip
    if verdict is None:
        said = (err.strip() or out.strip() or "no message").splitlines()[-1]
        return not_judged(task, backend, f"no verdict (exit {child.returncode}): {said}", took)
    return result_of(task, backend, verdict, took)


def result_of(task: str, backend: str, verdict: Verdict, seconds: float) -> TaskResult:
    """What a verdict says of a task. A stage counts if a check of it passed and none failed."""
    failed = verdict.first_failure
    outcome: Outcome = "abandoned" if verdict.outcome == "rejected" else verdict.outcome
    compiled = _passed(verdict, "policy") and _passed(verdict, "compile")
    timed = next((c.numbers for c in verdict.checks if SHARE in c.numbers), {})
    busy = {name: share or 0.0 for name, share in timed.items() if name.startswith("busy_")}
    return TaskResult(
        task=task,
        outcome=outcome,
        backend=backend,
        level=verdict.level,
        attempts=verdict.attempt,
        compiled=compiled,
        correct=compiled and _passed(verdict, "numbers"),
        roofline_share=timed.get(SHARE),
        p50_us=timed.get("p50_us"),
        roofline_us=timed.get("roofline_us"),
        memory_bound=timed["traffic_us"] == timed["roofline_us"] if "traffic_us" in timed else None,
        traffic_ratio=timed.get("traffic_ratio"),
        bound_by=max(busy, key=lambda name: busy[name], default="").removeprefix("busy_"),
        busy=max(busy.values(), default=None),
        failed_stage=failed.stage if failed else "",
        reason=failed.detail[:500] if failed else "",
        seconds=seconds,
    )


def not_judged(task: str, backend: str, reason: str, seconds: float = 0.0) -> TaskResult:
    """Trouble: it says nothing about the backend."""
    return TaskResult(
        task=task, outcome="not_judged", backend=backend, reason=reason[:500], seconds=seconds
    )


def _passed(verdict: Verdict, stage: str) -> bool:
    results = {check.result for check in verdict.checks if check.stage == stage}
    return "passed" in results and "failed" not in results


def _abandoned(text: str) -> str:
    """Why no candidate was written, if that is what was printed."""
    try:
        said: Any = json.loads(text)
        return str(said["reason"]) if said["outcome"] == "abandoned" else ""
    except (ValueError, KeyError, TypeError):
        return ""


def _verdict(text: str) -> Verdict | None:
    """The verdict in what was printed, alone or as a field of a larger answer."""
    try:
        said: Any = json.loads(text)
        return Verdict.model_validate(said.get("verdict", said))
    except (ValueError, ValidationError, AttributeError):
        return None
