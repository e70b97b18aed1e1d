"""Numbers: one wrong element fails, and nothing hides behind a tolerance or a norm."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nkiport.contracts.capture import Reference
from nkiport.contracts.judgement import Oracle, Requirements
from nkiport.contracts.tensors import InputSpec, TensorSpec
from nkiport.judge.draws import MOST_MOVED, Trial, draw_trial, draw_trials, plan
from nkiport.judge.numbers import compare

SHAPE = (5, 7)


def oracle(dtype="float32"):
    return Oracle(
        job_id="job-00000001", kernel_id="k", source_sha256="0" * 64,
        reference=Reference(kind="module", file="a.py", symbol="Model"),
        inputs=(InputSpec(name="x", shape=SHAPE),),
        outputs=(TensorSpec(name="y", shape=SHAPE, dtype=dtype),),
        requirements=Requirements(), seed_commitment="0" * 64,
    )  # fmt: skip


TRIALS = (Trial("normal", 0), Trial("normal", 0, moved=("x",)))
RNG = np.random.default_rng(0)
GOLDEN = [RNG.standard_normal(SHAPE) for _ in TRIALS]


def judged(change=lambda y, _trial: y, golden=None, dtype=np.float32):
    golden = GOLDEN if golden is None else golden
    working = [[g.astype(dtype)] for g in golden]
    got = [[np.asarray(change(g.astype(dtype).copy(), i))] for i, g in enumerate(golden)]
    checks = compare(oracle(np.dtype(dtype).name), TRIALS, got, [[g] for g in golden], working)
    return {check.name: check for check in checks}


def failed(checks):
    return {name for name, check in checks.items() if check.result == "failed"}


def test_the_same_numbers_pass_every_check():
    assert failed(judged()) == set()


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 4), st.integers(0, 6), st.sampled_from([0.01, -0.01, 1.0, 1e30]))
def test_one_wrong_element_fails_wherever_it_is(row, column, by):
    def spoil(y, trial):
        if trial == 0:
            y[row, column] += by
        return y

    checks = judged(spoil)

    assert "values" in failed(checks)
    assert f"[{row}, {column}]" in checks["values"].findings[0].asked


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda y, _: y[:4], "outputs"),
        (lambda y, _: y.astype(np.float64), "outputs"),
        (lambda y, _: y.reshape(7, 5), "outputs"),
        (lambda y, _: np.where(y > 1, np.nan, y).astype(np.float32), "finite"),
        (lambda y, _: y * 0, "not zero"),
        (lambda y, _: GOLDEN[0].astype(np.float32), "sensitivity"),
    ],
)
def test_each_way_of_being_wrong_has_its_check(change, name):
    assert name in failed(judged(change))


def test_small_numbers_do_not_vanish_under_the_absolute_tolerance():
    small = [g * 1e-6 for g in GOLDEN]

    assert failed(judged(golden=small)) == set()
    assert "error ratio" in failed(judged(lambda y, _: y * 1.5, golden=small))


def test_nan_is_asked_for_where_the_reference_gives_it():
    golden = [g.copy() for g in GOLDEN]
    golden[0][1, 2] = np.nan

    assert failed(judged(golden=golden)) == set()
    filled = judged(lambda y, _: np.nan_to_num(y, nan=1.0), golden=golden)
    assert "finite" in failed(filled)


def test_a_candidate_may_stray_as_far_as_its_reference_does_in_that_row_and_no_further():
    working = [[g.astype(np.float32)] for g in GOLDEN]
    working[0][0][2] += np.float32(0.05)
    got = [[w[0].copy()] for w in working]
    got[0][0][2] += np.float32(0.05)
    golden = [[g] for g in GOLDEN]

    assert all(c.result == "passed" for c in compare(oracle(), TRIALS, got, golden, working))
    got[0][0][3] += np.float32(0.05)
    assert {c.name for c in compare(oracle(), TRIALS, got, golden, working)
            if c.result == "failed"} == {"values"}  # fmt: skip


def test_bfloat16_gets_one_rounding_of_its_own_and_no_more():
    assert failed(judged(dtype=ml_dtypes.bfloat16)) == set()
    wrong = judged(lambda y, _: y * ml_dtypes.bfloat16(1.05), dtype=ml_dtypes.bfloat16)
    assert "values" in failed(wrong)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**63 - 1))
def test_trials_follow_from_the_seed_alone_and_move_one_input_at_a_time(seed):
    inputs = (InputSpec(name="x", shape=(3, 4)), InputSpec(name="w", shape=(4,), role="weight"))
    trials = {t: draw_trial(inputs, seed, t) for t in plan(inputs)}
    again = {t: draw_trial(inputs, seed, t) for t in plan(inputs)}
    first = trials[plan(inputs)[0]]

    for trial, arrays in trials.items():
        assert all(np.array_equal(arrays[n], again[trial][n]) for n in arrays)
        if trial.moved:
            changed = {n for n in arrays if not np.array_equal(arrays[n], first[n])}
            assert changed == set(trial.moved)


def test_a_network_of_many_weights_moves_each_in_one_trial_and_neighbours_apart():
    inputs = tuple(InputSpec(name=f"w{n}", shape=(2,), role="weight") for n in range(70))
    moves = [trial.moved for trial in plan(inputs) if trial.moved]
    trials = draw_trials(inputs, 5)

    assert len(moves) == MOST_MOVED
    assert sorted(n for names in moves for n in names) == sorted(spec.name for spec in inputs)
    assert not any({"w0", "w1"} <= set(names) for names in moves)
    assert all(
        trials[0][name] is arrays[name]
        for trial, arrays in zip(plan(inputs), trials, strict=True)
        if trial.moved
        for name in set(arrays) - set(trial.moved)
    )


@pytest.mark.parametrize(
    ("working", "wrong"), [(0.0, set()), (3e-13, set()), (1e-13, {"not zero"})]
)
def test_zeros_pass_only_where_the_reference_says_nothing_but_its_rounding(working, wrong):
    # A norm of equal values: exactly 0, but the golden keeps the noise of float64.
    noise, zeros = np.full(SHAPE, 1e-13), np.zeros(SHAPE, np.float32)
    own = np.full(SHAPE, working, np.float32)

    checks = compare(oracle(), TRIALS, [[zeros]] * 2, [[noise]] * 2, [[own]] * 2)

    assert failed({check.name: check for check in checks}) & {"not zero"} == wrong
