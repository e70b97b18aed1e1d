"""Hold a candidate's outputs against its reference; where they differ, ask how firm that one is.

The reference's own error in a row is one sample: a right kernel that rounds elsewhere can be many
times farther off, in one row of thousands, where scores nearly tie or large terms cancel. So the
reference is run again, in float64, on inputs that are moved by one rounding of float32. What that
moves no kernel in float32 can know better.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nkiport.contracts.capture import Precision
from nkiport.contracts.judgement import Check, Oracle
from nkiport.contracts.tensors import TensorSpec
from nkiport.judge.draws import Trial, plan
from nkiport.judge.numbers import Condition, Outputs, compare, finite_distance, strayed
from nkiport.sandbox.buffers import dtype_of

Array = NDArray[Any]
Inputs = Mapping[str, Array]

ROUNDING = 2.0**-23
"""The spacing of float32, relative: inputs are moved by it, up or down. Twice what one rounding
does at most, because sums of thousands of terms round at every step."""
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
    moved = [place for place in places if _without_ties(planned[place])]
    condition = _condition(oracle, trials, golden, moved, reference)
    return compare(oracle, planned, got, golden, working, trials, condition)


def _doubtful(checks: Sequence[Check]) -> bool:
    failed = {check.name for check in checks if check.result == "failed"}
    return bool(failed) and failed <= ROUNDED


def _without_ties(trial: Trial) -> bool:
    """Equal inputs have an order that any movement would change: there, nothing is excused."""
    return trial.distribution not in {"constant", "one_hot"}


def _condition(
    oracle: Oracle,
    trials: Sequence[Inputs],
    golden: Outputs,
    places: Sequence[int],
    reference: Reference,
) -> Condition:
    """The largest movement of each element over the shakes, for the trials at ``places``.

    A trial at a time: the outputs of all shakes are many times those of the plan.
    """
    found: dict[int, list[Array]] = {}
    for place in places:
        said = reference(list(_shaken(trials[place])), ("float64",))["float64"]
        found[place] = [
            _movement(spec, golden[place][n], [each[n] for each in said])
            for n, spec in enumerate(oracle.outputs)
        ]
    return found


def _shaken(inputs: Inputs) -> Iterator[Inputs]:
    """The inputs with each number rounded up or down, and then each the other way."""
    for shake in range(SHAKES):
        for way in (1, -1):
            rng = np.random.default_rng(shake)
            yield {name: _rounded(array, way, rng) for name, array in inputs.items()}


def _rounded(array: Array, way: int, rng: np.random.Generator) -> Array:
    if array.dtype.kind in "iub":
        return array
    signs = way * rng.choice((-1.0, 1.0), array.shape)
    return np.asarray(array.astype(np.float64) * (1 + ROUNDING * signs))


def _movement(spec: TensorSpec, golden: Array, shaken: Sequence[Array]) -> Array:
    """How far an output moves both ways, which come in turn.

    What jumps one way alone is an order or a comparison, and those are exact. So are whole numbers.
    """
    if dtype_of(spec.dtype).kind in "iub":
        return np.zeros(golden.shape)
    moved = [finite_distance(each, golden) for each in shaken]
    return np.asarray(np.max(list(map(np.minimum, moved[::2], moved[1::2])), axis=0))
