"""What is left of a job's time when its workers, models and people are taken away."""

import json
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from bench.harness import tasks_of
from bench.overhead import measure, overhead_of

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds):
    return (START + timedelta(seconds=seconds)).isoformat()


JOB = {
    "job_id": "job-12345678",
    "status": "delivered",
    "created": at(0),
    "updated": at(20),
    "worker_seconds": 6.0,
    "model_seconds": 2.0,
}
GATES = [
    {"opened": at(2), "answered": at(5)},
    {"opened": at(8), "answered": at(15)},
    {"opened": at(16), "answered": None},
]


def test_the_rest_is_orchestration():
    found = overhead_of(JOB, GATES)

    assert (found.total, found.waiting, found.orchestration) == (20.0, 10.0, 2.0)
    assert found.share == pytest.approx(0.2)


class Api:
    """Serves one job that passes through its statuses, one for each look."""

    def __init__(self, *statuses):
        self.statuses = list(statuses)
        self.answered = []

    def __call__(self, request):
        if request.method == "POST" and request.url.path == "/jobs":
            self.submitted = json.loads(request.content)
            return httpx.Response(202, json={"job_id": JOB["job_id"]})
        if request.method == "POST":
            self.answered.append(request.url.path.rsplit("/", 1)[1])
            return httpx.Response(200, json={})
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return httpx.Response(200, json=JOB | {"status": status, "gates": GATES})


def client_of(api):
    return httpx.Client(base_url="http://test/", transport=httpx.MockTransport(api))


def test_both_gates_are_answered_and_the_end_is_measured():
    api = Api("queued", "waiting_scope", "capturing", "waiting_requirements", "delivered")
    with client_of(api) as client:
        found = measure(client, tasks_of("ten")["softmax"], sleep=lambda _: None)

    assert api.answered == ["scope", "requirements"]
    assert api.submitted["backend"] == "recipes"
    assert (found.status, found.orchestration) == ("delivered", 2.0)


def test_a_job_that_never_ends_is_given_up():
    ticks = iter(range(1000))
    with client_of(Api("queued")) as client, pytest.raises(TimeoutError, match="within 3 seconds"):
        measure(
            client,
            tasks_of("ten")["softmax"],
            limit=3,
            sleep=lambda _: None,
            clock=lambda: next(ticks),
        )
