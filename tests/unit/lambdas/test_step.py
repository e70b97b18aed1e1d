"""The edge around every step: what comes in is checked, what goes out has our names only."""

import json
from dataclasses import dataclass
from typing import Literal
from uuid import uuid4

import boto3
import pytest
from moto import mock_aws

from lambdas._step import consumer, step
from nkiport.contracts.base import JobMessage
from nkiport.contracts.errors import BadRequest, StoreBusy

JOB = "job-00000001"


class Asked(JobMessage):
    number: int = 0
    reason: str = ""


class Told(JobMessage):
    outcome: Literal["good"] = "good"
    number: int = 0


@dataclass
class Context:
    function_name: str = "step"
    memory_limit_in_mb: int = 128
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:step"
    aws_request_id: str = "r"

    def get_remaining_time_in_millis(self):
        return 10_000


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name, value in {
        "POWERTOOLS_TRACE_DISABLED": "true",
        "POWERTOOLS_SERVICE_NAME": f"step-{uuid4()}",  # a logger keeps its first test's stdout
        "POWERTOOLS_METRICS_NAMESPACE": "nkiport",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "TABLE_NAME": "jobs",
    }.items():
        monkeypatch.setenv(name, value)


def test_a_step_gets_its_request_and_gives_plain_json():
    handler = step(Asked, lambda _env: lambda q: Told(job_id=q.job_id, number=q.number + 1))

    told = handler({"job_id": JOB, "number": 1}, Context())

    assert told == {"job_id": JOB, "outcome": "good", "number": 2}


def test_ports_are_wired_once_for_each_container():
    built = []

    def build(env):
        built.append(env["TABLE_NAME"])
        return lambda q: Told(job_id=q.job_id)

    handler = step(Asked, build)
    handler({"job_id": JOB}, Context())
    handler({"job_id": JOB}, Context())

    assert built == ["jobs"]


def test_a_request_that_is_wrong_in_two_places_is_refused_once_with_both():
    handler = step(Asked, lambda _env: lambda q: Told(job_id=q.job_id))

    with pytest.raises(BadRequest, match=r"(?s)job_id.*number"):
        handler({"job_id": "x", "number": "many"}, Context())


def test_trouble_leaves_a_step_under_its_own_name():
    def busy(_request):
        raise StoreBusy("throttled")

    handler = step(Asked, lambda _env: busy)

    with pytest.raises(StoreBusy, match="throttled"):
        handler({"job_id": JOB}, Context())


def test_what_the_machine_caught_reaches_a_step_as_a_reason():
    reasons = []

    def note(request):
        reasons.append(request.reason)
        return Told(job_id=request.job_id)

    caught = {"Error": "StoreBusy", "Cause": json.dumps({"errorMessage": "throttled"})}
    step(Asked, lambda _env: note)({"job_id": JOB, "error": caught}, Context())

    assert reasons == ["StoreBusy: throttled"]


def test_every_log_line_carries_the_job_and_the_outcome_is_counted(capsys):
    step(Asked, lambda _env: lambda q: Told(job_id=q.job_id))({"job_id": JOB}, Context())

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    logged = [line for line in lines if line.get("message") == "ended"]
    counted = [line for line in lines if "_aws" in line and "good" in line]
    assert [line["job_id"] for line in logged] == [JOB]
    assert [line["good"] for line in counted] == [[1.0]]


@pytest.fixture
def table():
    with mock_aws():
        boto3.client("dynamodb").create_table(
            TableName="jobs",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ],
        )
        yield


def _event(*bodies):
    return {
        "Records": [
            {"messageId": f"m{n}", "body": json.dumps(body), "eventSource": "aws:sqs"}
            for n, body in enumerate(bodies)
        ]
    }


def test_a_message_that_comes_twice_is_done_once(table):
    done = []
    handler = consumer(Asked, lambda _env: lambda q: done.append(q.number))

    first = handler(_event({"job_id": JOB, "number": 7}), Context())
    again = handler(_event({"job_id": JOB, "number": 7}), Context())

    assert done == [7]
    assert first == again == {"batchItemFailures": []}


def test_a_bad_message_goes_back_alone_and_the_good_ones_are_done(table):
    done = []
    handler = consumer(Asked, lambda _env: lambda q: done.append(q.number))

    answer = handler(_event({"job_id": JOB, "number": 1}, {"job": "?"}), Context())

    assert done == [1]
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m1"}]}


def test_a_message_whose_work_fails_is_tried_again(table):
    tries = []

    def work(request):
        tries.append(request.number)
        if len(tries) == 1:
            raise StoreBusy("throttled")

    handler = consumer(Asked, lambda _env: work)
    failed = handler(_event({"job_id": JOB, "number": 3}), Context())
    done = handler(_event({"job_id": JOB, "number": 3}), Context())

    assert failed == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    assert done == {"batchItemFailures": []}
    assert tries == [3, 3]
