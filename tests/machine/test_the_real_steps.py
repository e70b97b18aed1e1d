"""Kernels through the checked-in machine with the real steps of the loop; devices are scripted."""

from nkiport.contracts import keys
from nkiport.contracts.judgement import Requirements
from nkiport.jobs.ledger import entries, spent
from tests.machine.harness import World, aws, checked_in, hurried
from tests.machine.real import JOB, Real, ScriptedModel
from tests.machine.scripted import approves


def run(real, worker, *kernels):
    with aws(real.steps()):
        return World(hurried(checked_in()), approves(*(kernels or real.kernels)), worker).run(JOB)


def test_a_kernel_that_the_recipes_cover_is_accepted_at_once():
    real = Real()

    ended = run(real, real.worker())

    (attempt,) = real.attempts()
    assert ended.status == "SUCCEEDED"
    assert (attempt.backend, attempt.accepted) == ("recipes", True)
    assert (real.kernel().status, real.kernel().accepted_attempt) == ("accepted", 1)
    assert b"nki.jit" in real.artifacts.get(keys.candidate(JOB, "softmax", 1))
    assert real.job().status == "delivered"


def test_a_compile_error_goes_back_to_the_model_and_the_next_kernel_is_accepted():
    model = ScriptedModel("first = 1\n", "second = 2\n")
    real = Real(backend="claude", models={"claude": model})

    run(real, real.worker(("compile", "softmax", 1)))

    first, second = real.attempts()
    assert (first.failed_stage, second.accepted) == ("compile", True)
    assert "attempt 1 is wrong" in model.asked[1].user
    assert "first = 1" in model.asked[1].user
    assert real.kernel().accepted_attempt == 2
    assert [entry.call_id for entry in entries(real.records, JOB)] == ["0001-claude", "0002-claude"]


def test_numbers_that_differ_until_the_turn_limit_abandon_the_kernel():
    sources = [f"turn = {turn}\n" for turn in range(1, 9)]
    real = Real(
        backend="claude",
        models={"claude": ScriptedModel(*sources)},
        requirements=Requirements(max_turns=2, max_failed_verifications=9),
    )

    run(real, real.worker(*(("verify", "softmax", turn) for turn in range(1, 9))))

    assert [attempt.failed_stage for attempt in real.attempts()] == ["numbers", "numbers"]
    assert real.kernel().status == "abandoned"
    assert "2 of 2 turns" in real.kernel().reason
    assert real.job().status == "nothing_accepted"


def test_a_spend_cap_stops_before_the_call_that_would_pass_it():
    model = ScriptedModel("turn = 1\n", "turn = 2\n")
    real = Real(
        backend="claude",
        models={"claude": model},
        requirements=Requirements(spend_cap_usd=0.47),
    )

    run(real, real.worker(("compile", "softmax", 1), ("compile", "softmax", 2)))

    assert len(model.asked) == 1
    assert 0 < spent(real.records, JOB) <= 0.47
    assert real.kernel().status == "abandoned"
    assert "spend cap" in real.kernel().reason


def test_one_kernel_of_three_is_abandoned_and_the_others_are_delivered():
    real = Real(kernels=("softmax", "softmax-2", "softmax-3"))

    run(real, real.worker(("verify", "softmax-2", 1)))

    statuses = {name: real.kernel(name).status for name in real.kernels}
    assert statuses == {
        "softmax": "accepted", "softmax-2": "abandoned", "softmax-3": "accepted",
    }  # fmt: skip
    assert real.job().status == "delivered"
