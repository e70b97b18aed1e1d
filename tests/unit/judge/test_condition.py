"""Roundings excuse what no kernel could know better, and nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nkiport.contracts.capture import Reference
from nkiport.contracts.errors import CaptureFailed
from nkiport.contracts.judgement import Oracle, Requirements
from nkiport.contracts.tensors import Draw, InputSpec, TensorSpec
from nkiport.judge.condition import MOST_DOUBTFUL, ROUNDING, SHAKES, against_reference
from nkiport.judge.draws import draw_trials, plan

ROWS, TERMS, FAR = 6, 64, 200.0
INPUTS = (InputSpec(name="x", shape=(ROWS, TERMS)), InputSpec(name="y", shape=(ROWS, TERMS)))
HARD = ("large", "mixed", "small", "constant", "one_hot")


def oracle(dtype="float32", *, wide=True, inputs=INPUTS, shape=(ROWS, 2)):
    return Oracle(
        job_id="job-00000001", kernel_id="k", source_sha256="0" * 64,
        reference=Reference(kind="module", file="a.py", symbol="Model"), inputs=inputs,
        outputs=(TensorSpec(name="out", shape=shape, dtype=dtype),),
        requirements=Requirements(), seed_commitment="0" * 64, float64_golden=wide,
    )  # fmt: skip


def turning(x, y):
    """The sine of a long way: of large inputs, a rounding of a term moves it by some 1 %."""
    return np.stack([np.sin((x * y).sum(1) / FAR), y.mean(1)], axis=1)


def over_a_half(x, y):
    return np.stack([1.0 * (x >= 0.5).sum(1), (x * y).sum(1)], axis=1)


class Runs:
    """A reference that is right in every precision, and how often it was asked."""

    def __init__(self, function, dtype=np.float32):
        self.function, self.dtype, self.asked = function, dtype, []
        self.values, self.raises = None, False

    def __call__(self, trials, precisions):
        self.asked.append((len(trials), precisions))
        if self.raises and len(self.asked) > 1:
            raise CaptureFailed("a probability above 1")
        exact = [self.function(*(each.astype(np.float64) for each in t.values())) for t in trials]
        own = {"working": self.dtype, "float64": np.float64}
        with np.errstate(over="ignore"):
            return {p: [[each.astype(own[p])] for each in exact] for p in precisions}


def judged(function, spoil, *, seed=0, dtype=np.float32, wide=True, inputs=INPUTS, raises=False):
    """The checks that fail where ``spoil`` gets each right output, its inputs and its trial."""
    trials, runs = draw_trials(inputs, seed), Runs(function, dtype)
    right = [each for (each,) in runs(trials, ("float64",))["float64"]]
    with np.errstate(over="ignore"):
        got = [
            [np.asarray(spoil(each.copy(), *trial.values(), which.label)).astype(dtype)]
            for each, trial, which in zip(right, trials, plan(inputs), strict=True)
        ]
    runs.asked.clear()
    runs.raises = raises
    name = np.dtype(dtype).name
    asked = oracle(name, wide=wide, inputs=inputs, shape=right[0].shape)
    checks = against_reference(asked, trials, got, runs)
    runs.values = next(check for check in checks if check.name == "values")
    return {check.name for check in checks if check.result == "failed"}, runs


def rounded_otherwise(roundings, where):
    """One row as another order of summing might give it."""

    def spoil(right, x, y, label):
        if label == where:
            terms = (x.astype(np.float64) * y)[2]
            right[2, 0] = np.sin((terms.sum() + roundings * _rounding(terms)) / FAR)
        return right

    return spoil


def off_by(roundings, *where):
    """An error of so many roundings of all terms, in one row of the trials named."""

    def spoil(right, x, y, label):
        if label in where:
            right[2, 0] += roundings * _rounding((x * y)[2]) / FAR
        return right

    return spoil


def _rounding(terms):
    return ROUNDING * np.sqrt(np.square(terms).sum())


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**63 - 1))
def test_a_row_may_stray_as_far_as_roundings_move_it(seed):
    failed, runs = judged(turning, rounded_otherwise(3, "large"), seed=seed)

    assert failed == set()
    assert runs.asked[0] == (len(plan(INPUTS)), ("working", "float64"))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**63 - 1))
def test_and_no_further(seed):
    failed, _ = judged(turning, off_by(1000, "large"), seed=seed)

    assert "values" in failed


def test_the_row_beside_it_is_held_to_what_it_was():
    def spoil(right, _x, _y, label):
        right[3, 1] += 5.0 * (label == "large")
        return right

    def one_row(x, y):
        first = np.arange(ROWS) == 2
        return np.where(first[:, None], turning(x, y), np.stack([x[:, 0], y[:, 0]], axis=1))

    assert "values" in judged(one_row, spoil)[0]


def test_the_reference_is_asked_again_only_where_values_differ():
    _, runs = judged(turning, lambda right, *_: right)
    assert len(runs.asked) == 1

    _, runs = judged(turning, rounded_otherwise(3, "large"))
    assert [count for count, _ in runs.asked] == [len(plan(INPUTS)), *[4] * SHAKES]
    assert runs.values.numbers["trials_held_to_the_references_condition"] == 1
    assert "1 trials by what roundings make of the reference" in runs.values.detail


@pytest.mark.parametrize("where", HARD)
def test_a_wrong_comparison_is_not_excused_by_values_that_lie_on_the_border(where):
    def strictly(right, x, _y, label):
        wrong = right.copy()
        wrong[:, 0] = (x > 0.5).sum(1) if label == where else right[:, 0]
        return wrong

    def on_the_border(x, y):
        return over_a_half(np.where(np.arange(TERMS) % 7 == 0, 0.5, x), y)

    failed, _ = judged(on_the_border, lambda r, x, y, at: strictly(
        r, np.where(np.arange(TERMS) % 7 == 0, np.float32(0.5), x), y, at))  # fmt: skip

    assert "values" in failed


def test_whole_numbers_are_never_excused():
    def spoil(right, _x, _y, label):
        right[2, 0] += label == "large"
        return right

    assert "values" in judged(lambda x, y: np.rint(9 * turning(x, y)), spoil, dtype=np.int32)[0]


def test_a_kernel_that_differs_in_many_trials_is_wrong_without_asking_again():
    everywhere = [trial.label for trial in plan(INPUTS)]
    assert len(everywhere) * MOST_DOUBTFUL > 1

    failed, runs = judged(turning, off_by(1e6, *everywhere))

    assert "values" in failed
    assert len(runs.asked) == 1


def test_a_reference_that_has_no_float64_is_asked_once():
    failed, runs = judged(turning, off_by(30, "large"), wide=False)

    assert "values" in failed
    assert runs.asked == [(len(plan(INPUTS)), ("working",))]


def test_where_the_reference_is_not_defined_beside_its_inputs_nothing_is_excused():
    failed, runs = judged(turning, rounded_otherwise(3, "large"), raises=True)

    assert "values" in failed
    assert len(runs.asked) == 2


def drawn(**draw):
    first = InputSpec(name="x", shape=(ROWS, TERMS), draw=Draw(**draw))
    return (first, InputSpec(name="y", shape=(ROWS, TERMS)))


def at_the_top(x, y):
    """The mean of y over all places of the largest x."""
    top = x == x.max(1, keepdims=True)
    return (top * y).sum(1, keepdims=True) / top.sum(1, keepdims=True)


def at_the_first(x, y):
    return np.take_along_axis(y, x.argmax(1)[:, None], 1)


def from_the_end_on(x, y):
    return np.where(x >= 1, y, 0).sum(1, keepdims=True)


def beyond_the_end(x, y):
    return np.where(x > 1, y, 0).sum(1, keepdims=True)


def masked(eps):
    def normed(x, y):
        kept = np.where(x == 1, y, 0)
        return kept / np.sqrt(np.square(kept).mean(1, keepdims=True) + eps)

    return normed


def side_by_side(limit):
    """Where x is large there is a number that float32 does not hold; and y within a limit."""

    def both(x, y):
        beyond = x * np.where(np.abs(x) > 100, 1e300, 1.0)
        return np.concatenate([beyond, np.clip(y, -limit, limit)], axis=1)

    return both


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("inputs", "right", "wrong"),
    [
        (drawn(kind="uniform", low=0, high=1), at_the_top, at_the_first),
        (drawn(low=-5, high=5), at_the_top, at_the_first),
        (drawn(kind="uniform", low=0, high=1), from_the_end_on, beyond_the_end),
        (drawn(kind="integers", low=0, high=1), masked(1e-5), masked(1e-7)),
        (INPUTS, side_by_side(10), side_by_side(np.inf)),
    ],
    ids=["ties", "ties at a bound", "a border", "a mask of numbers", "beside an overflow"],
)
def test_what_jumps_or_overflows_excuses_no_wrong_kernel(inputs, right, wrong, seed):
    failed, _ = judged(right, lambda _, x, y, __: wrong(x, y), inputs=inputs, seed=seed)

    assert failed
