"""A task's process, and what its verdict says."""

import sys
import time

import pytest

from bench.one import result_of, run_one
from nkiport.contracts.judgement import Check, Verdict


def verdict(*checks, outcome="accepted"):
    return Verdict(
        job_id="local-00000001", kernel_id="model", attempt=2, outcome=outcome,
        level="functional", candidate_sha256="a" * 64, checks=checks,
    )  # fmt: skip


def check(stage, result="passed", **numbers):
    return Check(name=stage, stage=stage, result=result, detail=f"{stage}: {result}",
                 numbers=numbers)  # fmt: skip


GOOD = (
    check("policy"),
    check("compile"),
    check("numbers"),
    check("performance", "not_measured", roofline_share=0.4),
)


def test_an_accepted_verdict_counts_at_every_stage():
    result = result_of("t", "recipes", verdict(*GOOD), 1.5)

    assert (result.outcome, result.compiled, result.correct) == ("accepted", True, True)
    assert (result.roofline_share, result.attempts, result.seconds) == (0.4, 2, 1.5)
    assert (result.level, result.failed_stage) == ("functional", "")


@pytest.mark.parametrize(
    ("stage", "compiled"), [("policy", False), ("compile", False), ("numbers", True)]
)
def test_a_rejected_one_says_where_it_failed(stage, compiled):
    checks = [c if c.stage != stage else check(stage, "failed") for c in GOOD]

    result = result_of("t", "recipes", verdict(*checks, outcome="rejected"), 1.0)

    assert (result.outcome, result.failed_stage) == ("abandoned", stage)
    assert result.reason == f"{stage}: failed"
    assert (result.compiled, result.correct) == (compiled, False)


def test_numbers_that_were_not_run_are_not_correct():
    result = result_of("t", "recipes", verdict(check("policy"), check("compile")), 1.0)

    assert not result.correct


def prints(text, code=0):
    return [sys.executable, "-c", f"import sys; print({text!r}); sys.exit({code})"]


@pytest.mark.parametrize("frame", ["{}", '{{"verdict": {}, "more": 1}}'])
def test_the_verdict_is_read_from_what_the_command_prints(frame):
    text = frame.format(verdict(*GOOD).model_dump_json())

    assert run_one("t", prints(text, code=1), "recipes", 20).outcome == "accepted"


@pytest.mark.parametrize("text", ["", "[]", "{}", "Traceback"])
def test_no_verdict_is_trouble(text):
    result = run_one("t", prints(text, code=3), "recipes", 20)

    assert result.outcome == "not_judged"
    assert result.reason.startswith("no verdict (exit 3)")


def test_a_command_that_does_not_end_is_killed_with_all_it_started():
    started = time.monotonic()

    result = run_one("t", ["sh", "-c", "sleep 60 & wait"], "recipes", 0.2)

    assert (result.outcome, result.reason) == ("not_judged", "not finished after 0.2 seconds")
    assert time.monotonic() - started < 20
