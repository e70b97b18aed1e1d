"""The cloud assembly of the local stage, synthesized once for each state of the sources."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nkiport.contracts.errors import BadRequest
from nkiport.local.paths import ASSEMBLIES, ROOT

SOURCES: Final = ("app.py", "cdk.json", "requirements.lock", "stacks", "statemachine", "lambdas",
                  "nkiport", "bench/tasks")  # fmt: skip
"""What the assembly is made of."""


def assembly() -> Path:
    """The folder of the current assembly; older ones are deleted. One process at a time."""
    ASSEMBLIES.parent.mkdir(parents=True, exist_ok=True)
    with ASSEMBLIES.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = ASSEMBLIES / _digest()
        return wanted if (wanted / "manifest.json").exists() else _synthesized(wanted)


def _synthesized(wanted: Path) -> Path:
    shutil.rmtree(ASSEMBLIES, ignore_errors=True)
    done = subprocess.run(
        [sys.executable, "app.py", "-c", "stage=local"], cwd=ROOT, check=False,
        env={**os.environ, "CDK_OUTDIR": str(wanted)}, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        shutil.rmtree(wanted, ignore_errors=True)
        raise BadRequest(
            f"the stacks cannot be synthesized: {(done.stderr or done.stdout)[-2000:]}"
        )
    return wanted


def _digest() -> str:
    found = hashlib.sha256()
    for path in sorted(_files()):
        found.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:16]


def _files() -> Iterator[Path]:
    for name in SOURCES:
        path = ROOT / name
        every = path.rglob("*") if path.is_dir() else [path]
        yield from (p for p in every if p.is_file() and "__pycache__" not in p.parts)
