"""Rates and their intervals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import TaskResult, summarise, wilson


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"),
    [
        # https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval, by the formula.
        (8, 10, 0.4902, 0.9433),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (63, 150, 0.3440, 0.5000),
    ],
)
def test_the_interval_is_wilsons(passed, total, low, high):
    rate = wilson(passed, total)

    assert (rate.low, rate.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_nothing_measured_is_no_rate():
    assert wilson(0, 0).share is None
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)


def test_more_passed_than_there_were_is_refused():
    with pytest.raises(ValueError, match="3 of 2 is no share"):
        wilson(3, 2)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_share(counts):
    rate = wilson(*counts)

    assert 0 <= rate.low <= rate.share + 1e-12
    assert rate.share - 1e-12 <= rate.high <= 1


def result(task, **more):
    return TaskResult(task=task, backend="recipes", **({"outcome": "abandoned"} | more))


def test_three_rates_of_what_was_judged():
    good = {"outcome": "accepted", "compiled": True, "correct": True}
    results = [
        result("fast", **good, roofline_share=0.5, tokens=10, usd=0.5),
        result("slow", **good, roofline_share=0.49),
        result("unmeasured", **good),
        result("wrong", compiled=True, failed_stage="numbers"),
        result("broken", failed_stage="compile"),
        result("lost", outcome="not_judged", seconds=5.0),
    ]

    summary = summarise(results)

    assert (summary.compiled.passed, summary.correct.passed, summary.fast.passed) == (4, 3, 1)
    assert summary.correct.total == 5
    assert summary.not_judged == 1
    assert summary.failures == {"compile": 1, "numbers": 1}
    assert summary.memory_bound.tasks == summary.compute_bound.tasks == 0
    assert (summary.tokens, summary.usd, summary.seconds) == (10, 0.5, 5.0)


def test_medians_are_of_the_correct_tasks_that_the_same_thing_binds():
    good = {"outcome": "accepted", "compiled": True, "correct": True}
    results = [
        result("a", **good, roofline_share=0.2, memory_bound=True),
        result("b", **good, roofline_share=0.8, memory_bound=True),
        result("c", **good, roofline_share=0.3, memory_bound=False),
        result("wrong", roofline_share=0.9, memory_bound=True),
    ]

    summary = summarise(results)

    assert (summary.memory_bound.tasks, summary.memory_bound.share) == (2, 0.5)
    assert (summary.compute_bound.tasks, summary.compute_bound.share) == (1, 0.3)
