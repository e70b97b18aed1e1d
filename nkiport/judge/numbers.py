"""Compare a candidate's outputs with its reference's, element by element, trial by trial.

``golden`` is the reference in float64, ``working`` the same reference in the precision it is
used in. Where the reference itself strays from float64, a candidate may stray as far: the error
ratio. Where it happens to be right though roundings move it, ``condition`` tells how far they do.
Norms alone decide nothing: one wrong element fails.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from nkiport.contracts.judgement import Check, Finding, Oracle
from nkiport.judge.draws import Trial
from nkiport.sandbox.buffers import device_dtype_of, dtype_of

Array = NDArray[Any]
Outputs = Sequence[Sequence[Array]]
"""Arrays of each output, for each trial."""
Condition = Mapping[int, Sequence[Array]]
"""How far roundings move each output, element by element, by the trial's place in the plan."""

STAND_IN_SHARE = 0.1
"""Where a constant or an input itself lies within the tolerance, the error may be this share of
what it would make: else the tolerance could not tell the work from its absence."""
MOST_RATIO = 8.0
"""A candidate's error may be this many times the reference's own in its row. Two right kernels
that sum in another order differ by small factors; a wrong one by orders of magnitude."""
TINY = 1e-30
ORDINARY = Trial("normal", 0).label


@dataclass(frozen=True)
class Compared:
    """One output of one trial: arrays in float64, and what may lie between them."""

    trial: str
    place: int
    got: Array
    golden: Array
    working: Array
    own: Array
    """How far the reference strays, or would by other roundings; 0 where it is not finite."""
    allowed: Array
    stand_ins: tuple[Array, ...] = ()
    """What could be returned without work: the mean, and each input of the output's shape."""

    @property
    def error(self) -> Array:
        """Absolute error, 0 where both are the same NaN or infinity."""
        with np.errstate(invalid="ignore", over="ignore"):
            return np.where(self.got == self.golden, 0.0, np.abs(self.got - self.golden))

    @property
    def comparable(self) -> Array:
        """Where the reference is finite in both precisions."""
        return np.isfinite(self.golden) & np.isfinite(self.working)


def compare(
    oracle: Oracle,
    trials: Sequence[Trial],
    got: Outputs,
    golden: Outputs,
    working: Outputs,
    inputs: Sequence[Mapping[str, Array]] = (),
    condition: Condition = MappingProxyType({}),
) -> tuple[Check, ...]:
    """Every check on numbers, in order; later ones are left out where shapes do not agree.

    With the trials' ``inputs``, an input that is returned as it came is told from work.
    ``condition`` is how far roundings move the reference in trials where that was asked.
    """
    structure = _structure(oracle, trials, got, golden)
    if structure.result == "failed":
        return (structure,)
    pairs = list(_pairs(oracle, trials, got, golden, working, condition))
    given = inputs or [{}] * len(trials)
    ordinary = [
        replace(pair, stand_ins=(*_means(pair), *_same_shape(pair, values)))
        for pair, values in zip(pairs, [g for g in given for _ in oracle.outputs], strict=True)
        if pair.trial == ORDINARY
    ]
    return (
        structure,
        _finite(pairs),
        _close(pairs, len(condition)),
        _work(ordinary, oracle),
        _relative(pairs, oracle),
        _varied(pairs),
        _moves(oracle, trials, got, golden),
    )


def strayed(
    oracle: Oracle, trials: Sequence[Trial], got: Outputs, golden: Outputs, working: Outputs
) -> tuple[int, ...]:
    """The trials with an output that is farther from the reference than is allowed."""
    pairs = list(_pairs(oracle, trials, got, golden, working, {}))
    width = len(oracle.outputs)
    return tuple(
        place
        for place in range(len(trials))
        if any(
            (_shares(pair) > 1).any() or _of_its_size(pair, oracle).too_far
            for pair in pairs[place * width : (place + 1) * width]
        )
    )


def _structure(oracle: Oracle, trials: Sequence[Trial], got: Outputs, golden: Outputs) -> Check:
    found: list[Finding] = []
    if len(got) != len(trials) or len(golden) != len(trials):
        found.append(Finding(code="numbers_trials", asked=f"{len(got)} of {len(trials)} trials"))
    wanted = [(spec.shape, device_dtype_of(spec.dtype)) for spec in oracle.outputs]
    for trial, outputs in zip(trials, got, strict=False):
        had = [(each.shape, each.dtype) for each in outputs]
        if had != wanted:
            found.append(
                Finding(
                    code="numbers_outputs", asked=f"{trial.label}: outputs {_described(had)}",
                    allowed=f"{_described(wanted)}",
                    fix="return every output in the reference's order, shape and dtype",
                )
            )  # fmt: skip
            break
    return _check("outputs", found, f"{len(wanted)} outputs of the reference's shapes and dtypes")


def _pairs(
    oracle: Oracle,
    trials: Sequence[Trial],
    got: Outputs,
    golden: Outputs,
    working: Outputs,
    condition: Condition,
) -> Iterator[Compared]:
    rows = zip(trials, got, golden, working, strict=True)
    for number, (trial, mine, wide, narrow) in enumerate(rows):
        moves = condition.get(number, (0.0,) * len(oracle.outputs))
        for place, spec in enumerate(oracle.outputs):
            one, want, said = (
                np.asarray(each[place]).astype(np.float64) for each in (mine, wide, narrow)
            )
            known = np.where(np.isfinite(said), moves[place], 0.0)
            own = np.maximum(finite_distance(said, want), known)
            allowed = _allowed(oracle, spec.dtype, want, own)
            yield Compared(trial.label, place, one, want, said, own, allowed)


def finite_distance(some: Array, other: Array) -> Array:
    """How far arrays lie apart, element by element; 0 where one is not finite."""
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(some - other)
    return np.asarray(np.nan_to_num(apart, nan=0.0, posinf=0.0, neginf=0.0))


def _allowed(oracle: Oracle, dtype: str, golden: Array, own: Array) -> Array:
    """The tolerance, one rounding of the dtype, or the reference's own error in the row."""
    tolerance, kind = oracle.requirements.tolerance, dtype_of(dtype)
    step = 0.0 if kind.kind in "iub" else float(ml_dtypes.finfo(kind).eps)  # type: ignore[no-untyped-call]
    with np.errstate(invalid="ignore", over="ignore"):
        declared = tolerance.atol + max(tolerance.rtol, step) * np.abs(golden)
    row = own.max(axis=-1, keepdims=True, initial=0.0) if own.ndim else own
    return np.asarray(np.maximum(np.nan_to_num(declared), MOST_RATIO * row))


def _finite(pairs: Sequence[Compared]) -> Check:
    """NaN and infinity only where the reference has them, and there too unless better than it."""
    found = []
    for pair in pairs:
        wrong = pair.comparable & ~np.isfinite(pair.got)
        silent = np.isnan(pair.golden) & np.isfinite(pair.got)
        if (wrong | silent).any():
            found.append(_finding("numbers_not_finite", pair, wrong | silent))
    return _check("finite", found, "NaN and infinity only where the reference gives them")


def _close(pairs: Sequence[Compared], by_condition: int) -> Check:
    found, worst = [], 0.0
    for pair in pairs:
        share = _shares(pair)
        worst = max(worst, float(share.max(initial=0.0)))
        if (share > 1).any():
            found.append(_finding("numbers_differ", pair, share > 1))
    errors = [float(np.max(p.error[p.comparable], initial=0.0)) for p in pairs]
    numbers = {
        "worst_share_of_tolerance": worst, "max_abs_error": max(errors, default=0.0),
        "trials_held_to_the_references_condition": float(by_condition),
    }  # fmt: skip
    how = f"; {by_condition} trials by what roundings make of the reference" if by_condition else ""
    return _check("values", found, f"every element of {len(pairs)} outputs agrees{how}", numbers)


def _shares(pair: Compared) -> Array:
    """The error as a share of what is allowed; infinite where it is no number."""
    with np.errstate(invalid="ignore"):
        share = np.where(pair.comparable, pair.error / np.maximum(pair.allowed, TINY), 0.0)
    return np.nan_to_num(share, nan=np.inf)


def _work(pairs: Sequence[Compared], oracle: Oracle) -> Check:
    """On ordinary inputs: something was compared, and it is nearer than any stand-in for it."""
    found = [
        Finding(code="numbers_nothing", asked=f"output {place} of the reference is never finite",
                fix="declare value ranges in which the reference is defined")
        for place in range(len(oracle.outputs))
        if not any(pair.comparable.any() for pair in pairs if pair.place == place)
    ]  # fmt: skip
    for pair in pairs:
        limit = min((_told_apart(pair, each, oracle) for each in pair.stand_ins), default=np.inf)
        error = _rms(pair.error, pair)
        if error > limit:
            found.append(
                Finding(
                    code="numbers_stand_in", asked=f"{pair.trial}, output {pair.place}: the error "
                    f"is {error:.3g}, and a constant or an input itself lies within the tolerance",
                    allowed=f"at most {limit:.3g}", fix="compute what the reference computes",
                )
            )  # fmt: skip
    return _check("work", found, "nearer to the reference than a constant or an input would be")


def _told_apart(pair: Compared, stand_in: Array, oracle: Oracle) -> float:
    """The error that is allowed beside a stand-in: any, if the tolerance itself refuses it."""
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(stand_in - pair.golden)
    if not pair.comparable.any() or (off > pair.allowed)[pair.comparable].any():
        return np.inf
    rounding = 2 * _step(oracle, pair.place) * _rms(pair.golden, pair)
    return max(STAND_IN_SHARE * _rms(off, pair), MOST_RATIO * _rms(pair.own, pair), rounding)


def _means(pair: Compared) -> tuple[Array, ...]:
    kept = pair.golden[pair.comparable]
    return (np.full_like(pair.golden, kept.mean()),) if kept.size > 1 else ()


def _same_shape(pair: Compared, values: Mapping[str, Array]) -> tuple[Array, ...]:
    alike = (each for each in values.values() if each.shape == pair.golden.shape)
    return tuple(np.asarray(each).astype(np.float64) for each in alike)


def _relative(pairs: Sequence[Compared], oracle: Oracle) -> Check:
    """Small outputs vanish under ``atol``: the error is also held against their own size."""
    sizes = [_of_its_size(pair, oracle) for pair in pairs]
    found = [
        Finding(
            code="numbers_relative", asked=f"{pair.trial}, output {pair.place}: the error "
            f"is {size.error:.3g} of the output's size",
            allowed=f"at most {size.limit:.3g}", fix="compute small values too",
        )
        for pair, size in zip(pairs, sizes, strict=True)
        if size.too_far
    ]  # fmt: skip
    numbers = {
        "worst_relative_error": max((size.error for size in sizes), default=0.0),
        "worst_error_ratio": max((size.ratio for size in sizes), default=0.0),
    }
    return _check("error ratio", found, "errors are small beside the outputs", numbers)


class _Size(NamedTuple):
    """The error of an output beside the output: what it is, what it may be, and how far."""

    error: float
    limit: float
    ratio: float
    """To the reference's own, or to one rounding."""
    too_far: bool


def _of_its_size(pair: Compared, oracle: Oracle) -> _Size:
    scale = max(_rms(pair.golden, pair), TINY)
    error, own = _rms(pair.error, pair) / scale, _rms(pair.own, pair) / scale
    step = _step(oracle, pair.place)
    limit = max(oracle.requirements.tolerance.rtol, 2 * step, MOST_RATIO * own)
    return _Size(error, limit, error / max(own, step), error > limit and scale > TINY)


def _varied(pairs: Sequence[Compared]) -> Check:
    """Not all zero where the reference is not, unless it is as far from its golden as zero is."""
    found = [
        Finding(code="numbers_zero", asked=f"{pair.trial}, output {pair.place} is zero everywhere")
        for pair in pairs
        if not pair.got.any() and np.abs(pair.golden).max(initial=0.0) > max(TINY, _own(pair))
    ]
    return _check("not zero", found, "no output is zero where the reference's is not")


def _own(pair: Compared) -> float:
    """The largest error of the reference itself, in its working precision."""
    return float(pair.own[pair.comparable].max(initial=0.0))


def _moves(oracle: Oracle, trials: Sequence[Trial], got: Outputs, golden: Outputs) -> Check:
    """Redraw an input: where the reference's outputs move, the candidate's must."""
    found, unmoved = [], list[str]()
    for trial, mine, wide in zip(trials, got, golden, strict=True):
        if not trial.moved:
            continue
        if not _changed(wide, golden[0]):
            unmoved += trial.moved
        elif not _changed(mine, got[0]):
            found.append(
                Finding(
                    code="numbers_input_ignored", asked=f"a new {trial.named} changes no output",
                    allowed="outputs that depend on every input, as the reference's do",
                    fix=f"use {trial.named}",
                )
            )  # fmt: skip
    said = f"every one of {len(oracle.inputs) - len(unmoved)} inputs moves the outputs"
    return _check("sensitivity", found, said, {"inputs_without_effect": float(len(unmoved))})


def _changed(some: Sequence[Array], others: Sequence[Array]) -> bool:
    return any(
        not np.array_equal(
            np.asarray(a).astype(np.float64), np.asarray(b).astype(np.float64), equal_nan=True
        )
        for a, b in zip(some, others, strict=True)
    )


def _rms(values: Array, pair: Compared) -> float:
    kept = values[pair.comparable]
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.sqrt(np.mean(np.square(kept)))) if kept.size else 0.0


def _step(oracle: Oracle, place: int) -> float:
    kind = dtype_of(oracle.outputs[place].dtype)
    return 1.0 if kind.kind in "iub" else float(ml_dtypes.finfo(kind).eps)  # type: ignore[no-untyped-call]


def _finding(code: str, pair: Compared, wrong: Array) -> Finding:
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    return Finding(
        code=code,
        asked=f"{pair.trial}, output {pair.place}: {int(wrong.sum())} of {wrong.size} "
        f"elements differ, first at {list(first)}: {pair.got[first]:.6g}",
        allowed=f"{pair.golden[first]:.6g} within {pair.allowed[first]:.3g}",
        fix="compare the kernel's arithmetic, masks and tile edges with the reference",
    )


def _check(
    name: str,
    found: Sequence[Finding],
    passed: str,
    numbers: Mapping[str, float | None] | None = None,
) -> Check:
    return Check(
        name=name, stage="numbers", result="failed" if found else "passed",
        detail=found[0].sentence() if found else passed, numbers=dict(numbers or {}),
        findings=tuple(found),
    )  # fmt: skip


def _described(outputs: Sequence[tuple[tuple[int, ...], np.dtype[Any]]]) -> str:
    return ", ".join(f"{kind.name}{list(shape)}" for shape, kind in outputs) or "none"
