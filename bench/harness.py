"""Runs a suite: each task in a process of its own, each result on disk before the next counts."""

import hashlib
import json
import platform
import subprocess
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import nkiport
from bench.one import migrate, not_judged
from bench.page import page
from bench.results import TaskResult, append, read
from bench.scoring import summarise
from bench.shapes import AS_WRITTEN, Shapes, rewritten
from nkiport.contracts.errors import BadRequest

HERE: Final = Path(__file__).parent
SUITES: Final[Mapping[str, tuple[Path, ...]]] = {
    "ten": (HERE / "tasks",),
    "nkigen-150": (HERE / "nkigen",),
    "nkigen-250": (HERE / "nkigen", HERE / "nkigen_rest"),
}
"""Named suites and their folders; any folder of task files is one too."""


class Runner(Protocol):
    """Migrates one task file."""

    def __call__(self, task: str, file: Path, *, backend: str, seconds: float) -> TaskResult:
        """Migrate it within so many seconds; every end is a result."""
        ...


def run(
    suite: str | Path,
    out: Path,
    *,
    backend: str = "recipes",
    jobs: int = 1,
    time_limit: float = 300.0,
    max_bytes: int = 256 * 1024,
    only: Iterable[str] = (),
    shapes: Shapes = AS_WRITTEN,
    runner: Runner | None = None,
    progress: Callable[[TaskResult, int, int], object] = lambda *_: None,
) -> dict[str, object]:
    """Run what has no result yet, then write ``report.json`` beside ``results.jsonl``; return it.

    ``time_limit`` is seconds for a task, ``max_bytes`` the largest task file, ``shapes`` what
    tasks that declare sizes run at; ``progress`` gets each result, how many are done, and how many
    there are. A run that was killed goes on where it stopped.

    Raises ``BadRequest`` for a folder without tasks, or an ``out`` that holds another run.
    """
    tasks = tasks_of(suite)
    wanted = set(only) or set(tasks)
    named = {name: file for name, file in tasks.items() if name in wanted}
    chosen = rewritten(named, shapes, out / "tasks")
    _claim(out, chosen, backend)
    lines = out / "results.jsonl"
    done = read(lines)
    left = {name: file for name, file in chosen.items() if name not in done}
    work = partial(_guarded, runner or migrate, backend, time_limit, max_bytes)
    with ThreadPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(work, *item) for item in left.items()]):
            result = future.result()
            append(lines, result)
            done[result.task] = result
            progress(result, len(done), len(chosen))
    at = "its own" if str(suite) not in SUITES and shapes is AS_WRITTEN else shapes.name
    results = [done[name] for name in chosen if name in done]
    return _report(out, results, backend, suite=Path(suite).name, shapes=at)


def tasks_of(suite: str | Path) -> dict[str, Path]:
    """Name to file of a named suite, or of every Python file under a folder."""
    folders = SUITES.get(str(suite), (Path(suite),))
    found = {
        file.relative_to(folder).with_suffix("").as_posix(): file
        for folder in folders
        for file in (folder.rglob("*.py") if folder.is_dir() else ())
    }
    if not found:
        raise BadRequest(
            f"no task in '{suite}'; give a folder of Python files with Model, get_inputs and "
            f"get_init_inputs, or one of: {', '.join(SUITES)}"
        )
    return dict(sorted(found.items()))


def _guarded(
    runner: Runner, backend: str, seconds: float, max_bytes: int, task: str, file: Path
) -> TaskResult:
    if file.stat().st_size > max_bytes:
        return not_judged(task, backend, f"the file is larger than {max_bytes} bytes")
    return runner(task, file, backend=backend, seconds=seconds)


def _claim(out: Path, tasks: dict[str, Path], backend: str) -> None:
    """A folder belongs to one backend and one set of task files."""
    out.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    for name, file in tasks.items():
        digest.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    mine = {"backend": backend, "tasks_sha256": digest.hexdigest()}
    claim = out / "run.json"
    if claim.exists() and json.loads(claim.read_text()) != mine:
        raise BadRequest(
            f"'{out}' holds a run of other tasks or another backend; give an empty folder"
        )
    claim.write_text(json.dumps(mine))


def _report(
    out: Path, results: list[TaskResult], backend: str, *, suite: str, shapes: str
) -> dict[str, object]:
    report: dict[str, object] = {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.platform(),
        "nkiport": nkiport.__version__,
        "commit": _commit(),
        "backend": backend,
        "shapes": shapes,
        "levels": sorted({r.level for r in results if r.level}),
        "engines": sorted({r.engine for r in results if r.engine}),
        "summary": summarise(results).model_dump(mode="json"),
        "tasks": [result.model_dump(mode="json") for result in results],
    }
    (out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    (out / "report.html").write_text(page(report, f"{suite} at {shapes} shapes"))
    return report


def _commit() -> str:
    """The commit of the sources that ran; empty where they are no repository."""
    asked = ["git", "-C", str(HERE), "rev-parse", "HEAD"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip()
