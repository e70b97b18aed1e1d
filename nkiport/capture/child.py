"""References, run in a sandboxed child: the parent writes arrays, and checks what comes back."""

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nkiport.contracts.capture import Capture, Precision, Reference
from nkiport.contracts.errors import CaptureFailed
from nkiport.contracts.judgement import Oracle
from nkiport.sandbox import ChildResult, Limits, run_child
from nkiport.sandbox.buffers import Array, Unreadable, read_arrays, write_trials

MODULE = "nkiport.capture.reference_child"
REFERENCE_LIMITS = Limits(memory_bytes=12 * 1024**3)
"""PyTorch alone takes some gigabytes of address space."""
INTERPRETED = {"TRITON_INTERPRET": "1"}
"""Triton kernels run on the CPU, by its own interpreter."""


class ChildReferences:
    """Captures and runs references. Their code is the user's, and hostile."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or REFERENCE_LIMITS

    def capture(self, reference: Reference, tree: Path) -> Capture:
        """Run the reference on its declared inputs and export what it computes."""
        file = _inside(tree, reference.file)
        with _scratch(tree) as scratch:
            ask = {"mode": "capture", "reference": reference.model_dump(mode="json")}
            answer = self._run(ask, scratch)
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        try:
            return Capture.model_validate({**answer, "source_sha256": sha256})
        except ValidationError as error:
            raise CaptureFailed(f"the reference cannot be described: {_brief(error)}") from error

    def golden(
        self,
        oracle: Oracle,
        tree: Path,
        trials: Sequence[Mapping[str, Array]],
        precisions: Sequence[Precision],
    ) -> Mapping[Precision, list[list[Array]]]:
        """Run the reference for each trial in each precision, in one child.

        Raises ``CaptureFailed`` if it no longer runs, or answers what cannot be read.
        """
        with (
            _scratch(tree) as scratch,
            (scratch / "inputs.bin").open("w+b") as given,
            (scratch / "outputs.bin").open("w+b") as outputs,
        ):
            ask = {
                "mode": "golden",
                "reference": oracle.reference.model_dump(mode="json"),
                "names": [(spec.name, spec.role) for spec in oracle.inputs],
                "trials": write_trials(
                    given, [[trial[spec.name] for spec in oracle.inputs] for trial in trials]
                ),
                "precisions": list(precisions),
            }
            answer = self._run(ask, scratch)
            outputs.seek(0)
            try:
                return {
                    precision: [read_arrays(outputs, each) for each in answer[precision]]
                    for precision in precisions
                }
            except (Unreadable, KeyError, TypeError) as error:
                raise CaptureFailed(f"the reference's outputs are unreadable: {error}") from error

    def _run(self, ask: Mapping[str, Any], scratch: Path) -> Mapping[str, Any]:
        child = run_child(MODULE, ask, scratch=scratch, limits=self._limits, env=INTERPRETED)
        if child.result is None:
            raise CaptureFailed(_ended(child))
        if "failed" in child.result:
            raise CaptureFailed(str(child.result["failed"])[:1500])
        return child.result


def _ended(child: ChildResult) -> str:
    last = child.stderr.strip().splitlines()[-1:] or [""]
    return f"the reference's process did not end well: {child.detail}. {last[0]}"[:1500]


def _inside(tree: Path, name: str) -> Path:
    file = (tree / name).resolve()
    if not file.is_relative_to(tree.resolve()) or not file.is_file():
        raise CaptureFailed(f"there is no file '{name}' in the source tree")
    return file


@contextmanager
def _scratch(tree: Path) -> Iterator[Path]:
    """A folder of the child's own, with a copy of the tree that it may spoil."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        shutil.copytree(tree, scratch / "tree", ignore=_links)
        yield scratch


def _links(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if (Path(folder) / name).is_symlink() or name == ".git"]


def _brief(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
