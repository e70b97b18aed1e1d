"""Inputs drawn from the secret seed: several seeds, several distributions, weights redrawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from nkiport.contracts.judgement import Oracle, Seed
from nkiport.contracts.tensors import Draw, InputSpec
from nkiport.sandbox.buffers import dtype_of

Array = NDArray[Any]
Distribution = Literal["normal", "large", "small", "constant", "one_hot", "mixed"]

LARGE, SMALL = 1e3, 1e-3
"""Factors on the declared spread: overflow, and values lost beside an epsilon."""
MOST_MOVED = 32
"""Trials that move inputs; each is a run of the candidate, and a deep network has hundreds."""
DECADES = 3.0
"""The mixed distribution spans this many powers of ten to either side."""


@dataclass(frozen=True)
class Trial:
    """One trial of the plan; only the inputs ``moved``, if any, differ from the first trial."""

    distribution: Distribution
    stream: int
    moved: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """How reports name it."""
        return f"{self.distribution}, {self.named} redrawn" if self.moved else self.distribution

    @property
    def named(self) -> str:
        """The inputs that are moved, for people."""
        first, *others = self.moved or ("nothing",)
        return f"'{first}'" + (f" and {len(others)} more" if others else "")


def plan(inputs: Sequence[InputSpec]) -> tuple[Trial, ...]:
    """What is tried: two seeds, the hard distributions, then each input moved by itself.

    More than ``MOST_MOVED`` inputs are moved several at a time, neighbours (a layer's weight and
    its bias) in different trials. Every trial compares every value, so that an input of such a
    network can be ignored only where the tolerance does not see it.
    """
    hard: tuple[Distribution, ...] = ("large", "small", "constant", "one_hot", "mixed")
    several = (Trial("normal", 0), Trial("normal", 1))
    names = [spec.name for spec in inputs]
    shares = (tuple(names[first::MOST_MOVED]) for first in range(min(MOST_MOVED, len(names))))
    moves = (Trial("normal", 0, moved=share) for share in shares)
    return (*several, *(Trial(each, 2 + i) for i, each in enumerate(hard)), *moves)


class Trials:
    """Draws every trial of the plan; the same seed gives the same arrays."""

    def trials(self, oracle: Oracle, seed: Seed) -> list[Mapping[str, Array]]:
        """One mapping of input name to array, in call order, for each trial of the plan."""
        return draw_trials(oracle.inputs, seed.seed)


def draw_trials(inputs: Sequence[InputSpec], seed: int) -> list[Mapping[str, Array]]:
    """Draw every trial of the plan; what a trial does not move is the first trial's own array."""
    first, *others = plan(inputs)
    start = draw_trial(inputs, seed, first)
    return [start, *(draw_trial(inputs, seed, each, start) for each in others)]


def draw_trial(
    inputs: Sequence[InputSpec], seed: int, trial: Trial, start: Mapping[str, Array] | None = None
) -> Mapping[str, Array]:
    """Draw one trial; every input has a random stream of its own.

    ``start`` is the plan's first trial, if it is drawn already: what is not moved is taken from it.
    """
    kept = start if start and trial.moved else {}
    moved_stream = len(inputs) + 100
    return {
        spec.name: kept[spec.name]
        if spec.name in kept and spec.name not in trial.moved
        else draw(
            spec,
            trial.distribution,
            np.random.default_rng(
                [seed, moved_stream if spec.name in trial.moved else trial.stream, position]
            ),
        )
        for position, spec in enumerate(inputs)
    }


def draw(spec: InputSpec, distribution: Distribution, rng: np.random.Generator) -> Array:
    """Draw one input. A weight keeps its own spread in every trial, and is never constant."""
    kind = "normal" if spec.role == "weight" else distribution
    how = spec.draw
    if how.kind == "boolean":
        return (rng.random(spec.shape) < 0.5).astype(dtype_of(spec.dtype))  # noqa: PLR2004
    if how.kind == "integers":
        return _integers(spec, kind, rng)
    if how.kind == "uniform":
        values = _UNIFORM[kind](rng, spec.shape, *_bounds(how))
    else:
        values = how.mean + _spread(spec) * _NORMAL[kind](rng, spec.shape)
    return _fitted(values, how, spec.dtype)


def _integers(spec: InputSpec, kind: Distribution, rng: np.random.Generator) -> Array:
    low, high = _bounds(spec.draw)
    shape = (1,) * len(spec.shape) if kind == "constant" else spec.shape
    drawn = rng.integers(int(low), int(high), size=shape, endpoint=True)
    return np.broadcast_to(drawn, spec.shape).astype(dtype_of(spec.dtype))


def _bounds(how: Draw) -> tuple[float, float]:
    if how.low is None or how.high is None:
        raise ValueError(f"a {how.kind} draw needs 'low' and 'high'")
    return how.low, how.high


def _spread(spec: InputSpec) -> float:
    """An affine weight declared without spread would be the identity, and could be ignored."""
    if spec.draw.std > 0 or spec.role != "weight":
        return spec.draw.std
    return 0.2 * max(abs(spec.draw.mean), 1.0)


def _fitted(values: Array, how: Draw, dtype: str) -> Array:
    kind = dtype_of(dtype)
    if kind.kind not in "iub":
        most = float(ml_dtypes.finfo(kind).max)  # type: ignore[no-untyped-call]
        values = np.clip(values, -most, most)
    if how.low is not None or how.high is not None:
        values = np.clip(values, how.low, how.high)
    return values.astype(kind)


def _one_hot(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    values = np.zeros(shape)
    last = shape[-1] if shape else 1
    rows = values.reshape(-1, last)
    rows[np.arange(len(rows)), rng.integers(0, last, size=len(rows))] = 1.0
    return values


def _mixed(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    scale: Array = 10 ** rng.uniform(-DECADES, DECADES, shape)
    return np.asarray(rng.standard_normal(shape) * scale)


def _constant(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    # A multiple of 1/8, so that sums of it are exact and no rounding hides a wrong formula.
    return np.full(shape, rng.choice([-1, 1]) * rng.integers(1, 17) / 8)


_Standard = Callable[[np.random.Generator, tuple[int, ...]], Array]
_NORMAL: Mapping[Distribution, _Standard] = MappingProxyType(
    {
        "normal": lambda rng, shape: rng.standard_normal(shape),
        "large": lambda rng, shape: LARGE * rng.standard_normal(shape),
        "small": lambda rng, shape: SMALL * rng.standard_normal(shape),
        "constant": _constant,
        "one_hot": _one_hot,
        "mixed": _mixed,
    }
)
_Between = Callable[[np.random.Generator, tuple[int, ...], float, float], Array]
_UNIFORM: Mapping[Distribution, _Between] = MappingProxyType(
    {
        "normal": lambda rng, shape, low, high: rng.uniform(low, high, shape),
        "large": lambda rng, shape, low, high: np.where(rng.random(shape) < 0.5, low, high),  # noqa: PLR2004
        "small": lambda rng, shape, low, high: low + SMALL * (high - low) * rng.random(shape),
        "constant": lambda rng, shape, low, high: np.full(shape, rng.uniform(low, high)),
        "one_hot": lambda rng, shape, low, high: low + (high - low) * _one_hot(rng, shape),
        "mixed": lambda rng, shape, low, high: low + (high - low) * rng.random(shape) ** 4,
    }
)
