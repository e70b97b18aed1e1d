"""Dead letters go back where they came from."""

import boto3
import pytest
from moto import mock_aws

from lambdas.redrive.moving import RedriveRequest, redrive


@pytest.fixture
def queues(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        sqs = boto3.client("sqs")
        dead, alive = (sqs.create_queue(QueueName=name)["QueueUrl"] for name in ("dead", "alive"))
        for number in range(13):
            sqs.send_message(QueueUrl=dead, MessageBody=f"message {number}")
        yield sqs, dead, alive


def _count(sqs, url):
    told = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])
    return int(told["Attributes"]["ApproximateNumberOfMessages"])


def test_every_dead_letter_goes_back_to_its_queue(queues):
    sqs, dead, alive = queues

    told = redrive(RedriveRequest(queue="device"), ways={"device": (dead, alive)}, sqs=sqs)

    assert told.moved == 13
    assert (_count(sqs, dead), _count(sqs, alive)) == (0, 13)


def test_no_more_are_moved_than_were_asked_for(queues):
    sqs, dead, alive = queues

    told = redrive(RedriveRequest(queue="gate", most=11), ways={"gate": (dead, alive)}, sqs=sqs)

    assert told.moved == 11
    assert _count(sqs, dead) == 2
