"""The report as a page, and what changed between two of them."""

import re

import pytest

from bench.compare import compared
from bench.harness import tasks_of
from bench.page import page
from bench.results import TaskResult
from bench.scoring import cause_of, summarise, weight_free


def result(task, *, correct=True, **more):
    outcome = "accepted" if correct else "abandoned"
    timed = {
        "roofline_share": 0.4, "p50_us": 50.0, "roofline_us": 20.0, "bound_by": "dma", "busy": 0.5,
        "memory_bound": True, "traffic_ratio": 2.0,
    }  # fmt: skip
    return TaskResult(
        task=task, outcome=outcome, backend="recipes", level="functional", compiled=correct,
        correct=correct, **(timed if correct else {}) | more,
    )  # fmt: skip


def report(*results, **more):
    return {
        "finished": "2026-01-01T00:00:00+00:00", "host": "a host", "nkiport": "0.1",
        "commit": "a" * 40, "backend": "recipes", "shapes": "reduced",
        "levels": ["functional"], "engines": [],
        "summary": summarise(results).model_dump(mode="json"),
        "tasks": [each.model_dump(mode="json") for each in results],
    } | more  # fmt: skip


def test_a_page_shows_rates_causes_and_tasks_and_loads_nothing():
    failed = result("b", correct=False, reason="no lowering rule for aten.sort.default (sort)")
    html = page(report(result("a"), failed), "two tasks")

    assert "1 of 2" in html
    assert "no rule for aten.sort.default" in html
    assert "functional" in html
    assert "nothing here was measured on a device" in html
    assert html.count("<circle") == 1
    assert "dma binds, busy 50 %" in html
    assert "2.0 times the traffic" in html
    assert "1 correct tasks whose roofline is memory" in html
    assert "whose roofline is arithmetic" not in html
    assert not re.search(r"(src|href)=", html)


def test_a_stranger_cannot_write_into_the_page():
    html = page(report(result("<script>", reason="<b>bold</b>")), "one")

    assert "<script>" not in html
    assert "<b>bold" not in html


def test_a_page_of_nothing_that_was_timed_says_so():
    assert "No kernel was timed" in page(report(result("a", correct=False)), "none")


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("UnsupportedGraph: no lowering rule for aten.sort.default (x)", "no rule for aten.sort"),
        ("candidate.py: numbers_relative: the error is 0.2", "numbers_relative"),
        ("not finished after 120 seconds", "not finished after N seconds"),
        ("", "abandoned"),
    ],
)
def test_failures_of_one_kind_have_one_cause(reason, cause):
    assert cause_of(result("a", correct=False, reason=reason)).startswith(cause)


def test_the_tasks_without_weights_are_57_of_the_suite():
    names = [name for name in tasks_of("nkigen-150") if name.startswith(weight_free())]

    assert len(names) == 57


def test_two_reports_differ_in_what_was_won_lost_and_slower():
    before = report(result("a"), result("b", correct=False), result("c"), result("gone"))
    after = report(
        result("a", p50_us=100.0), result("b"), result("c", correct=False), result("new"),
        commit="b" * 40,
    )  # fmt: skip

    found = compared(before, after)

    assert (found["won"], found["lost"]) == (["b"], ["c"])
    assert found["slower"] == {"a": 2.0}
    assert (found["added"], found["removed"]) == (["new"], ["gone"])
    assert (found["since"], found["until"]) == ("a" * 40, "b" * 40)


@pytest.mark.parametrize(("field", "value"), [("backend", "claude"), ("shapes", "drawn (1)")])
def test_reports_of_other_backends_or_shapes_are_not_compared(field, value):
    with pytest.raises(ValueError, match=f"differ in {field}"):
        compared(report(result("a")), report(result("a"), **{field: value}))
