"""Hold a candidate's outputs against its reference; where they differ, ask how firm that one is.

The reference's own error in a row is one sample: a right kernel that rounds elsewhere can be many
times farther off, in one row of thousands, where scores nearly tie or large terms cancel. So the
reference is run again, in float64, on inputs that are moved by one rounding of float32. What that
moves smoothly no kernel in float32 can know better. What it makes jump (an order, a comparison,
a place) can be known exactly: a far smaller movement tells the two apart.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nkiport.contracts.capture import Precision
from nkiport.contracts.errors import CaptureFailed
from nkiport.contracts.judgement import Check, Oracle
from nkiport.contracts.tensors import InputSpec
from nkiport.judge.draws import plan
from nkiport.judge.numbers import Outputs, compare, finite_distance, strayed
from nkiport.sandbox.buffers import dtype_of

Array = NDArray[Any]
Inputs = Mapping[str, Array]

ROUNDING = 2.0**-23
"""The spacing of float32, relative: inputs are moved by it, up or down. Twice what one rounding
does at most, because sums of thousands of terms round at every step."""
SMALLER = 2.0**-43
"""A movement that float64 still sees. What is smooth moves a million times less by it."""
SMOOTH = 0.125
"""Where the smaller movement makes more than this share of the larger, it is a jump."""
SHAKES = 8
"""Patterns of signs. The ratio of two errors passes 8 in some 8 % of draws (Cauchy's tail), but
an error three times the usual is no eighth of it in one of eight samples, save in some 1e-6."""
MOST_DOUBTFUL = 0.25
"""The share of trials that may differ by chance; where more do, the kernel is wrong."""
ROUNDED = frozenset({"values", "error ratio"})
"""The checks that roundings can fail."""


class Reference(Protocol):
    """Runs the reference."""

    def __call__(
        self, trials: Sequence[Inputs], precisions: Sequence[Precision]
    ) -> Mapping[Precision, Outputs]:
        """Its outputs for each trial, in each precision."""
        ...


def against_reference(
    oracle: Oracle, trials: Sequence[Inputs], got: Outputs, reference: Reference
) -> tuple[Check, ...]:
    """Every check on the numbers of the plan's trials.

    Raises what ``reference`` raises.
    """
    planned = plan(oracle.inputs)
    said = reference(trials, ("working", "float64") if oracle.float64_golden else ("working",))
    working, golden = said["working"], said.get("float64", said["working"])
    checks = compare(oracle, planned, got, golden, working, trials)
    if not oracle.float64_golden or not _doubtful(checks):
        return checks
    places = strayed(oracle, planned, got, golden, working)
    if len(places) > max(1, MOST_DOUBTFUL * len(planned)):
        return checks
    try:
        condition = {n: _condition(oracle, trials[n], golden[n], reference) for n in places}
    except CaptureFailed:  # inputs so moved may lie where it is not defined: nothing is excused
        return checks
    return compare(oracle, planned, got, golden, working, trials, condition)


def _doubtful(checks: Sequence[Check]) -> bool:
    failed = {check.name for check in checks if check.result == "failed"}
    return bool(failed) and failed <= ROUNDED


def _condition(
    oracle: Oracle, inputs: Inputs, golden: Sequence[Array], reference: Reference
) -> list[Array]:
    """The largest smooth movement of each element of each output.

    A pattern at a time, so that no more lies on the disk than in the plan.
    """
    largest = [np.zeros(each.shape) for each in golden]
    for shake in range(SHAKES):
        said = reference(_shaken(oracle, inputs, shake), ("float64",))["float64"]
        for n, spec in enumerate(oracle.outputs):
            if dtype_of(spec.dtype).kind not in "iub":  # whole numbers are exact
                moved = _smooth([finite_distance(each[n], golden[n]) for each in said])
                largest[n] = np.maximum(largest[n], moved)
    return largest


def _smooth(moved: Sequence[Array]) -> Array:
    """The movement both ways, where it is none that the smaller movements make too."""
    far, near = np.minimum(*moved[:2]), np.maximum(*moved[2:])
    return np.asarray(np.where(near <= SMOOTH * far, far, 0.0))


def _shaken(oracle: Oracle, inputs: Inputs, shake: int) -> list[Inputs]:
    """The inputs with each number moved up or down, then the other way, then both by less."""
    rng = np.random.default_rng(shake)
    signs = {
        spec.name: rng.choice((-1.0, 1.0), spec.shape) * _movable(spec, inputs[spec.name])
        for spec in oracle.inputs
    }
    return [
        {
            name: array if not signs[name].any() else _moved(array, by * signs[name])
            for name, array in inputs.items()
        }
        for by in (ROUNDING, -ROUNDING, SMALLER, -SMALLER)
    ]


def _moved(array: Array, by: Array) -> Array:
    return np.asarray(array.astype(np.float64) * (1 + by))


def _movable(spec: InputSpec, array: Array) -> Array:
    """Whether a number may be moved: not what is whole, nor what lies at a bound of its draw.

    Those are exact, and past a bound the reference need not be defined.
    """
    if spec.draw.kind in {"integers", "boolean"} or array.dtype.kind in "iub":
        return np.zeros(array.shape, np.bool_)
    wide, free = array.astype(np.float64), np.ones(array.shape, np.bool_)
    for end in (spec.draw.low, spec.draw.high):
        if end is not None:
            border = float(np.asarray(end).astype(array.dtype))
            free &= np.abs(wide - border) > 2 * ROUNDING * np.abs(wide)
    return free
