"""Repeat the comparison that evidence records, in a repository that trusts its own reference.

For the test that is delivered beside a kernel: the reference is imported and run where the test
runs, as any test of that repository would; only the candidate runs in a child process.
"""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from nkiport.contracts.capture import Precision
from nkiport.contracts.errors import CaptureFailed
from nkiport.contracts.judgement import Check, Oracle
from nkiport.delivery import evidence_in
from nkiport.engines import FunctionalEngine
from nkiport.judge.condition import against_reference
from nkiport.judge.draws import draw_trials

Array = Any


def rerun_files(*, evidence: Path, candidate: Path, tree: Path) -> tuple[str, ...]:
    """What the candidate gets wrong on the evidence's own inputs, as sentences; none if it agrees.

    The inputs are those of the revealed seed, on the functional simulator. Raises
    ``CaptureFailed`` for a reference that cannot be run without its launcher.
    """
    found = evidence_in(evidence.read_bytes())
    oracle, source = found.oracle, candidate.read_text()
    trials = draw_trials(oracle.inputs, found.seed.seed)
    engine = FunctionalEngine(found.target)
    compiled = engine.compile(source, oracle.inputs)
    if wrong := _failed(compiled):
        return wrong
    with tempfile.TemporaryDirectory() as scratch:
        runs = engine.run(source, trials, Path(scratch))
    if wrong := _failed((runs.check,)):
        return wrong
    reference = partial(_golden, oracle, tree)
    return _failed(against_reference(oracle, trials, runs.outputs, reference))


def _failed(checks: Sequence[Check]) -> tuple[str, ...]:
    return tuple(check.detail for check in checks if check.result == "failed")


def _golden(
    oracle: Oracle,
    tree: Path,
    trials: Sequence[Mapping[str, Array]],
    precisions: Sequence[Precision],
) -> Mapping[Precision, list[list[Array]]]:
    from nkiport.capture.callables import Runnable, from_torch, to_torch

    if oracle.reference.kind == "triton_grid":
        raise CaptureFailed(
            f"'{oracle.reference.symbol}' is a bare Triton kernel; repeat it with 'nkiport submit'"
        )
    answers: dict[Precision, list[list[Array]]] = {precision: [] for precision in precisions}
    run = Runnable(oracle.reference, tree)
    with _importing(tree, tree / oracle.reference.file):
        for precision, trial in product(precisions, trials):
            wide = precision == "float64"
            tensors = {name: to_torch(array, wide=wide) for name, array in trial.items()}
            inputs = [tensors[s.name] for s in oracle.inputs if s.role == "input"]
            weights = {s.name: tensors[s.name] for s in oracle.inputs if s.role == "weight"}
            said = run(inputs, weights, wide=wide)
            answers[precision].append([from_torch(each) for each in said])
    return answers


@contextmanager
def _importing(tree: Path, file: Path) -> Iterator[None]:
    """The reference's folder and its repository on the import path."""
    before = list(sys.path)
    sys.path[:0] = [str(file.parent), str(tree)]
    try:
        yield
    finally:
        sys.path[:] = before
