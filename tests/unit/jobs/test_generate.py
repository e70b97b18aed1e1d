"""Generate writes a planned attempt's candidate once, whoever writes it."""

import json

import boto3
import pytest
from botocore.config import Config

from nkiport.adapters.bedrock_model import BedrockModel
from nkiport.contracts import keys
from nkiport.contracts.errors import BadRequest, ModelBusy, NotFound
from nkiport.contracts.judgement import Requirements
from nkiport.contracts.steps import GenerateRequest, PlanRequest
from nkiport.generation import set_up
from nkiport.jobs.generate import generate
from nkiport.jobs.ledger import entries, spent
from nkiport.jobs.plan import plan
from tests.doubles.converse_server import Fails, Says, Submits, converse_server
from tests.unit.jobs.loop import JOB, KERNEL, SOURCE, add_kernel, world

MODEL = "us.anthropic.claude-opus-4-8"
WRONG, RIGHT = "x = 'wrong'\n", "x = 'right'\n"


@pytest.fixture
def claude(monkeypatch):
    """Make the backends that reach a scripted server through boto3."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")

    def make(server):
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)
        once = Config(retries={"total_max_attempts": 1})
        client = boto3.client("bedrock-runtime", region_name="us-east-1", config=once)
        return set_up(claude=BedrockModel(MODEL, client))

    return make


def turn(made, backends, kernel_id=KERNEL):
    planned = plan(PlanRequest(job_id=JOB, kernel_id=kernel_id), **made.ports, backends=backends)
    request = GenerateRequest(
        job_id=JOB, kernel_id=kernel_id, attempt=planned.attempt, backend=planned.backend
    )
    return request, generate(request, **made.ports, backends=backends)


def test_recipes_write_a_kernel_for_nothing():
    made = world()

    request, result = turn(made, set_up())

    assert result.outcome == "generated"
    assert b"@nki.jit" in made.artifacts.get(result.candidate_key)
    assert made.attempt(1).status == "generated"
    assert spent(made.records, JOB) == 0
    assert generate(request, **made.ports, backends=set_up()) == result


def test_a_graph_that_recipes_do_not_cover_is_a_failure_with_its_reason():
    made = world(op="aten.fft_fft.default", backend="recipes")

    _, result = turn(made, set_up())

    assert result.outcome == "failed"
    assert "no lowering rule for aten.fft_fft.default" in result.reason
    assert made.attempt(1).failed_stage == "generate"


def test_a_wrong_kernel_then_a_right_one_and_each_call_is_billed_once(claude):
    made = world(backend="claude")
    with converse_server([Submits(WRONG), Submits(RIGHT)]) as server:
        backends = claude(server)
        request, first = turn(made, backends)
        generate(request, **made.ports, backends=backends)
        made.judged(1, "numbers", "d1", feedback="element [0, 3]: expected 2.5, got 0.0")
        _, second = turn(made, backends)

    assert made.artifacts.get(first.candidate_key) == WRONG.encode()
    assert made.artifacts.get(second.candidate_key) == RIGHT.encode()
    bill = entries(made.records, JOB, KERNEL)
    assert [(e.call_id, e.input_tokens, e.output_tokens) for e in bill] == [
        ("0001-claude", 1000, 500),
        ("0002-claude", 1000, 500),
    ]
    # 1,000 tokens at 5 USD and 500 at 25 USD a million, with the regional premium of 10 %.
    assert [e.usd for e in bill] == pytest.approx([0.01925, 0.01925])
    asked = [r["messages"][0]["content"][0]["text"] for r in server.requests]
    assert SOURCE.decode().strip() in asked[0]
    assert "expected 2.5, got 0.0" not in asked[0]
    assert "expected 2.5, got 0.0" in asked[1]
    assert WRONG.strip() in asked[1]
    assert server.requests[0]["toolConfig"]["toolChoice"] == {"tool": {"name": "submit_kernel"}}


def test_a_throttled_model_is_trouble_and_the_retry_is_one_entry(claude):
    made = world(backend="claude")
    with converse_server([Fails("ThrottlingException"), Submits(RIGHT)]) as server:
        backends = claude(server)
        with pytest.raises(ModelBusy, match="ThrottlingException"):
            turn(made, backends)
        _, result = turn(made, backends)

    assert result.outcome == "generated"
    assert len(entries(made.records, JOB)) == 1
    assert spent(made.records, JOB) == pytest.approx(0.01925)


def test_a_refused_request_is_not_tried_again(claude):
    with (
        converse_server([Fails("AccessDeniedException", 403)]) as server,
        pytest.raises(BadRequest, match="AccessDeniedException"),
    ):
        turn(world(backend="claude"), claude(server))


def test_a_run_that_died_after_the_answer_asks_no_second_time(claude):
    made = world(backend="claude")
    with converse_server([Submits(RIGHT)]) as server:
        backends = claude(server)
        request, _ = turn(made, backends)
        forgotten = made.attempt(1).model_copy(
            update={"status": "planned", "candidate_key": None, "candidate_sha256": None}
        )
        made.records.replace(forgotten)

        result = generate(request, **made.ports, backends=backends)

    assert result.outcome == "generated"
    assert len(server.requests) == 1
    assert len(entries(made.records, JOB)) == 1


@pytest.mark.parametrize(
    ("turn_", "reason"),
    [
        (Says("I would rather not."), "did not hand in a kernel; it said: 'I would rather not.'"),
        (Says("import", stop_reason="max_tokens"), "was cut at 16384 tokens"),
        (Submits("   "), "did not hand in a kernel"),
        (Submits("x" * 300_000), "larger than 262144 bytes"),
    ],
)
def test_an_answer_without_a_usable_kernel_is_a_failed_attempt_that_is_billed(
    claude, turn_, reason
):
    made = world(backend="claude")
    with converse_server([turn_]) as server:
        _, result = turn(made, claude(server))

    assert result.outcome == "failed"
    assert reason in result.reason
    assert spent(made.records, JOB) > 0


def test_two_kernels_cannot_slip_under_one_cap_together(claude):
    made = world(backend="claude", limits=Requirements(spend_cap_usd=0.8))
    add_kernel(made, "relu-2", limits=Requirements(spend_cap_usd=0.8))
    with converse_server([Submits(RIGHT)]) as server:
        backends = claude(server)
        both = [
            plan(PlanRequest(job_id=JOB, kernel_id=k), **made.ports, backends=backends)
            for k in (KERNEL, "relu-2")
        ]
        # The first call hangs: its reservation stands while the second asks.
        hung = entries_of_a_call_under_way(made, backends)
        request = GenerateRequest(job_id=JOB, kernel_id="relu-2", attempt=1, backend="claude")
        result = generate(request, **made.ports, backends=backends)

    assert [p.action for p in both] == ["generate", "generate"]
    assert hung.usd is None
    assert result.outcome == "failed"
    assert result.reason.startswith("spend cap reached: the next call may cost")
    assert server.requests == []
    assert spent(made.records, JOB) == hung.reserved_usd


def entries_of_a_call_under_way(made, backends):
    from nkiport.jobs.generate import task_of
    from nkiport.jobs.ledger import AttemptMeter

    task = task_of(JOB, KERNEL, **made.stores, before=1)
    meter = AttemptMeter(made.attempt(1), cap_usd=0.8, **made.ports)
    meter.reserve(MODEL, backends["claude"].most_usd(task))
    (entry,) = entries(made.records, JOB)
    return entry


def test_the_transcript_is_kept_with_the_attempt(claude):
    made = world(backend="claude")
    with converse_server([Submits(RIGHT)]) as server:
        turn(made, claude(server))

    kept = json.loads(made.artifacts.get(keys.transcript(JOB, KERNEL, 1)))
    assert kept["model"] == MODEL
    assert kept["answer"]["tool_input"]["source"] == RIGHT


def test_an_attempt_that_nobody_planned_is_not_found():
    request = GenerateRequest(job_id=JOB, kernel_id=KERNEL, attempt=9, backend="recipes")

    with pytest.raises(NotFound, match="attempt 9 at 'relu-1' was never planned"):
        generate(request, **world().ports, backends=set_up())


def test_a_backend_that_is_gone_is_a_failed_attempt():
    made = world()
    plan(PlanRequest(job_id=JOB, kernel_id=KERNEL), **made.ports, backends=set_up())
    request = GenerateRequest(job_id=JOB, kernel_id=KERNEL, attempt=1, backend="vllm")

    result = generate(request, **made.ports, backends=set_up())

    assert result.reason == "backend 'vllm' is not set up; there: recipes"
