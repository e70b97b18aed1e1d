"""The parent's side: start a child, wait, and read the files that the parent made."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from nkiport.sandbox import bootstrap
from nkiport.sandbox.limits import ChildResult, Limits, Outcome
from nkiport.sandbox.walls import NOBODY, SYSTEM

REPORT_BYTES = 4096
LOOK_SECONDS = 0.5
"""How often the size of the scratch folder is looked at."""


def run_child(
    module: str,
    request: Mapping[str, Any],
    *,
    scratch: Path,
    limits: Limits,
    env: Mapping[str, str] | None = None,
    readable: Sequence[Path] = (),
) -> ChildResult:
    """Run ``module.main(request)`` in a child whose current folder is ``scratch``.

    The child sees Python, the package, ``readable`` (read-only) and ``scratch``, and no more,
    where the host allows it. ``request`` and the returned mapping are JSON; larger things are
    files in ``scratch`` which the caller made and keeps open. How a child ends is data: this
    raises only ``OSError`` if none could be started.
    """
    scratch = scratch.resolve()
    started = time.monotonic()
    read_end, write_end = os.pipe()
    ask = {
        **asdict(limits), "module": module, "request": dict(request), "scratch": str(scratch),
        "sys_path": _import_path(), "readable": _readable(readable), "report_fd": write_end,
    }  # fmt: skip
    (scratch / "request.json").write_text(json.dumps(ask))
    with (
        (scratch / "result.json").open("w+b") as result,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        os.fdopen(read_end, "rb") as report,
    ):
        _hand_over(scratch)
        code = _wait(_start(scratch, write_end, out, err, env or {}), scratch, limits)
        outcome, detail = _became(code, limits)
        answer = _answer(result, limits.result_bytes) if outcome == "done" else None
        if outcome == "done" and answer is None:
            outcome, detail = "no_result", "the child ended without a readable result"
        walls = _walls(report)
        texts = (_text(out, limits.text_bytes), _text(err, limits.text_bytes))
    return ChildResult(outcome, answer, detail, *texts, time.monotonic() - started, walls)


def _import_path() -> list[str]:
    package = Path(__file__).resolve().parents[2]
    kept = [path for path in sys.path if path and Path(path).exists()]
    return list(dict.fromkeys([*kept, str(package)]))


def _readable(more: Sequence[Path]) -> list[str]:
    package = str(Path(__file__).resolve().parents[1])
    site = [p for p in _import_path() if "site-packages" in p or p.startswith(sys.base_prefix)]
    return [*SYSTEM, sys.base_prefix, sys.prefix, package, *site, *(str(p.resolve()) for p in more)]


def _hand_over(scratch: Path) -> None:
    """Give the folder to the user that the child will become."""
    if os.getuid() != 0:
        return
    for path in (scratch, *scratch.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def _start(
    scratch: Path, report: int, out: IO[bytes], err: IO[bytes], env: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    quiet = {
        "HOME": str(scratch), "TMPDIR": str(scratch), "LANG": "C.UTF-8", "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-B", bootstrap.__file__],
            cwd=scratch, env={**quiet, **env}, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            pass_fds=(report,), start_new_session=True,
        )  # fmt: skip
    finally:
        os.close(report)


def _wait(child: subprocess.Popen[bytes], scratch: Path, limits: Limits) -> int | None:
    """The exit code, or None if time ran out. Nothing of the child's session is left behind."""
    end = time.monotonic() + limits.wall_seconds
    try:
        while (left := end - time.monotonic()) > 0:
            with suppress(subprocess.TimeoutExpired):
                return child.wait(min(LOOK_SECONDS, left))
            if _filled(scratch) > limits.scratch_bytes:
                return bootstrap.EXIT_TOO_LARGE
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _filled(folder: Path) -> int:
    """Bytes on the disk below a folder; what vanishes meanwhile is not counted."""
    total = 0
    for where, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                total += os.lstat(os.path.join(where, name)).st_blocks * 512  # noqa: PTH118
    return total


def _became(code: int | None, limits: Limits) -> tuple[Outcome, str]:
    if code is None:
        return "timeout", f"it ran longer than {limits.wall_seconds:g} s"
    number = -code if code < 0 else code - bootstrap.SIGNALLED
    if code == bootstrap.EXIT_MEMORY:
        return "memory", f"it asked for more than {limits.memory_bytes} bytes"
    if code == bootstrap.EXIT_TOO_LARGE or number == signal.SIGXFSZ:
        allowed = f"{limits.file_bytes} bytes, or all together {limits.scratch_bytes}"
        return "output_too_large", f"a file passed {allowed}"
    if number == signal.SIGXCPU:
        return "timeout", f"it used more than {limits.cpu_seconds} s of processor time"
    if number in set(signal.Signals):
        return "crash", f"it died of {signal.Signals(number).name}"
    return ("done", "") if code == 0 else ("crash", f"it ended with exit code {code}")


def _answer(result: IO[bytes], most: int) -> Mapping[str, Any] | None:
    data = _text(result, most + 1)
    if len(data) > most:
        return None
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def _walls(report: IO[bytes]) -> tuple[str, ...]:
    text = report.read(REPORT_BYTES)
    return tuple(json.loads(text)) if text else ()


def _text(file: IO[bytes], most: int) -> str:
    file.seek(0)
    return file.read(most).decode(errors="replace")
