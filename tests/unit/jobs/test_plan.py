"""Plan decides one attempt at a time, and stops with a sentence."""

from datetime import timedelta

import pytest

from nkiport.contracts.errors import NotFound
from nkiport.contracts.jobs import Job
from nkiport.contracts.judgement import Requirements
from nkiport.contracts.steps import PlanRequest
from nkiport.generation import Written
from nkiport.jobs.plan import plan
from tests.unit.jobs.loop import JOB, KERNEL, world


class Writer:
    def __init__(self, name, most=0.0):
        self.name, self.most = name, most

    def most_usd(self, task):
        return self.most

    def write(self, task, meter):
        return Written("never asked in these tests")


def writers(*names, most=0.0):
    return {name: Writer(name, 0.0 if name == "recipes" else most) for name in names}


def planned(made, backends=None):
    request = PlanRequest(job_id=JOB, kernel_id=KERNEL)
    return plan(request, **made.ports, backends=backends or writers("recipes", "claude"))


def test_a_covered_graph_is_planned_for_recipes_and_recorded_once():
    made = world()

    first, again = planned(made), planned(made)

    assert (first.action, first.attempt, first.backend) == ("generate", 1, "recipes")
    assert again == first
    assert made.kernel().status == "migrating"
    assert made.kernel().attempt == 1
    assert made.attempt(1).why == first.reason
    assert made.attempt(2) is None


def test_a_graph_without_rules_goes_to_the_model():
    result = planned(world(op="aten.fft_fft.default"))

    assert (result.action, result.backend) == ("generate", "claude")


def test_after_a_failure_of_recipes_the_model_takes_over():
    made = world()
    planned(made)
    made.judged(1, "numbers", "d1")

    result = planned(made)

    assert (result.attempt, result.backend) == (2, "claude")


def test_without_a_model_a_failure_of_recipes_is_the_end():
    made = world()
    planned(made)
    made.judged(1, "numbers", "d1")

    result = planned(made, writers("recipes"))

    assert (result.action, result.attempt) == ("stop", 1)
    assert "no backend is left" in result.reason


@pytest.mark.parametrize(
    ("stage", "limits", "sentence"),
    [
        ("compile", {"max_failed_compiles": 2}, "2 attempts did not compile; at most 2 may"),
        ("policy", {"max_failed_compiles": 2}, "2 attempts did not compile; at most 2 may"),
        ("numbers", {"max_failed_verifications": 2}, "2 attempts gave wrong numbers"),
        ("performance", {"max_turns": 2}, "2 of 2 turns are used"),
    ],
)
def test_each_limit_of_the_gate_ends_the_loop(stage, limits, sentence):
    made = world(backend="claude", limits=Requirements(**limits))
    for number in (1, 2):
        planned(made)
        made.judged(number, stage, f"d{number}")

    result = planned(made)

    assert result.action == "stop"
    assert sentence in result.reason


def test_compile_failures_do_not_count_as_wrong_numbers():
    made = world(backend="claude", limits=Requirements(max_failed_verifications=1))
    planned(made)
    made.judged(1, "compile", "d1")

    assert planned(made).action == "generate"


def test_two_attempts_of_one_writer_that_fail_alike_are_the_last():
    made = world(backend="claude")
    for number in (1, 2):
        planned(made)
        made.judged(number, "numbers", "same")

    result = planned(made)

    assert result.action == "stop"
    assert result.reason == "attempts 1 and 2 failed alike, with no new idea"


def test_time_is_counted_from_the_first_attempt():
    made = world(backend="claude", limits=Requirements(max_minutes=30))
    planned(made)
    made.judged(1, "numbers", "d1")
    made.clock.pass_minutes(29)
    assert planned(made).action == "generate"
    made.judged(2, "numbers", "d2")
    made.clock.pass_minutes(1)

    assert planned(made).reason == "30 minutes are over"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"status": "cancelled"}, "the job has ended as 'cancelled'"),
        ({"deadline": world().clock.now() - timedelta(minutes=1)}, "deadline"),
    ],
)
def test_an_ended_or_late_job_gets_no_attempt(changes, sentence):
    made = world()
    made.records.replace(made.records.get(Job, f"JOB#{JOB}", "JOB").model_copy(update=changes))

    result = planned(made)

    assert result.action == "stop"
    assert sentence in result.reason


def test_a_call_that_may_pass_the_cap_is_not_planned():
    made = world(backend="claude", limits=Requirements(spend_cap_usd=0.5))

    result = planned(made, writers("claude", most=0.6))

    assert result.action == "stop"
    assert result.reason.startswith("spend cap reached: 0.00 of 0.50 USD")
    assert made.attempt(1) is None


def test_an_accepted_attempt_is_planned_again_as_it_is():
    made = world()
    first = planned(made)
    made.judged(1, None, accepted=True)

    assert planned(made) == first


def test_a_kernel_that_no_gate_let_through_is_not_found():
    with pytest.raises(NotFound, match="has no kernel 'other'"):
        plan(
            PlanRequest(job_id=JOB, kernel_id="other"),
            **world().ports,
            backends=writers("recipes"),
        )
