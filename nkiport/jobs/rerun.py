"""Repeat the comparison that evidence records, in a repository that trusts its own reference.

For the test that is delivered beside a kernel: the reference is imported and run where the test
runs, as any test of that repository would; only the candidate runs in a child process.
"""

import runpy
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from nkiport.contracts.capture import Reference
from nkiport.contracts.errors import CaptureFailed
from nkiport.contracts.judgement import Oracle, Tolerance
from nkiport.delivery import evidence_in
from nkiport.engines import FunctionalEngine
from nkiport.judge.draws import draw_trial, plan

Array = Any


def rerun_files(*, evidence: Path, candidate: Path, tree: Path) -> tuple[str, ...]:
    """What the candidate gets wrong on the evidence's own inputs, as sentences; none if it agrees.

    The inputs are those of the revealed seed's normal draws, on the functional simulator. Raises
    ``CaptureFailed`` for a reference that cannot be run without its launcher.
    """
    found = evidence_in(evidence.read_bytes())
    oracle, source = found.oracle, candidate.read_text()
    trials = [
        draw_trial(oracle.inputs, found.seed.seed, trial)
        for trial in plan(oracle.inputs)
        if trial.distribution == "normal"
    ]
    engine = FunctionalEngine(found.target)
    with tempfile.TemporaryDirectory() as scratch:
        checks = engine.compile(source, oracle.inputs)
        wrong = [c.detail for c in checks if c.result == "failed"]
        if wrong:
            return tuple(wrong)
        runs = engine.run(source, trials, Path(scratch))
    if runs.check.result == "failed":
        return (runs.check.detail,)
    golden = _golden(oracle, tree, trials)
    return tuple(
        f"trial {number}, output {place}: {problem}"
        for number, (got, want) in enumerate(zip(runs.outputs, golden, strict=True))
        for place, (one, other) in enumerate(zip(got, want, strict=True))
        if (problem := differs(one, other, oracle.requirements.tolerance))
    )


def differs(got: Array, want: Array, tolerance: Tolerance) -> str:
    """How an output differs from its float64 golden; empty if it does not.

    A dtype that cannot hold the tolerance is allowed one rounding of its own.
    """
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    value, golden = got.astype(np.float64), want.astype(np.float64)
    floating = got.dtype.kind not in "iub"
    finfo: Any = ml_dtypes.finfo
    step = float(finfo(got.dtype).eps) if floating else 0.0
    close = np.isclose(
        value, golden, atol=tolerance.atol, rtol=max(tolerance.rtol, step), equal_nan=True
    )
    if close.all():
        return ""
    first = tuple(int(i) for i in np.argwhere(~close)[0])
    where = f"first at {list(first)}: expected {golden[first]:g}, got {value[first]:g}"
    return f"{int((~close).sum())} of {close.size} elements differ, {where}"


def _golden(oracle: Oracle, tree: Path, trials: Sequence[Mapping[str, Array]]) -> list[list[Array]]:
    with _importing(tree, tree / oracle.reference.file) as namespace:
        return [_answers(oracle, namespace, trial) for trial in trials]


@contextmanager
def _importing(tree: Path, file: Path) -> Iterator[Mapping[str, Any]]:
    """The reference's file, run with its repository and its folder on the import path."""
    before = list(sys.path)
    sys.path[:0] = [str(file.parent), str(tree)]
    try:
        yield runpy.run_path(str(file))
    finally:
        sys.path[:] = before


def _answers(
    oracle: Oracle, namespace: Mapping[str, Any], trial: Mapping[str, Array]
) -> list[Array]:
    import torch

    inputs = [_tensor(trial[s.name], oracle) for s in oracle.inputs if s.role == "input"]
    weights = {s.name: _tensor(trial[s.name], oracle) for s in oracle.inputs if s.role == "weight"}
    with torch.no_grad():
        said = _callable(oracle.reference, namespace, weights)(*inputs)
    outputs = said if isinstance(said, tuple | list) else (said,)
    return [output.double().numpy() for output in outputs]


def _callable(
    reference: Reference, namespace: Mapping[str, Any], weights: Mapping[str, Any]
) -> Any:
    if reference.kind == "triton_grid":
        raise CaptureFailed(
            f"'{reference.symbol}' is a bare Triton kernel; repeat it with 'nkiport submit'"
        )
    first, *rest = reference.symbol.split(".")
    found = namespace[first]
    for name in rest:
        found = getattr(found, name)
    if reference.kind == "function":
        return found
    given = namespace.get("get_init_inputs", list)()
    model = found(*(reference.init or given)).eval()
    return _with_weights(model, weights)


def _with_weights(model: Any, weights: Mapping[str, Any]) -> Any:
    """The model with every lifted weight replaced, its dtype too."""
    for path, owner in model.named_modules():
        for own in (owner._parameters, owner._buffers):  # noqa: SLF001 - state dicts keep the dtype
            for name, old in own.items():
                lifted = f"{path}.{name}".lstrip(".").replace(".", "_")
                if old is not None and lifted in weights:
                    old.data = weights[lifted]
    return model


def _tensor(array: Array, oracle: Oracle) -> Any:
    """A tensor of the array's values, in float64 where the reference also runs in it."""
    import torch

    if array.dtype.kind in "iub":
        return torch.from_numpy(np.ascontiguousarray(array))
    wide = torch.from_numpy(array.astype(np.float64))
    return wide if oracle.float64_golden else wide.to(getattr(torch, str(array.dtype)))
