"""Work handed out, task tokens and mail: what AWS answers, said in our own errors."""

import json
from datetime import UTC, datetime

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from nkiport.adapters.dynamodb_records import DynamoRecords
from nkiport.adapters.mail_notices import MailNotices
from nkiport.adapters.s3_artifacts import S3Artifacts
from nkiport.adapters.ses_mailer import SesMailer
from nkiport.adapters.sqs_device_queue import SqsDeviceQueue
from nkiport.adapters.step_functions import StepFunctionsExecutions, StepFunctionsTokens
from nkiport.contracts.errors import Conflict, StoreBusy
from nkiport.contracts.jobs import Gate, Job
from tests.ports.test_records import job

WAITS = {"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 60, "End": True}}}
ROLE = "arn:aws:iam::123456789012:role/machine"


@pytest.fixture
def queue(aws):
    client = boto3.client("sqs")
    url = client.create_queue(QueueName="device")["QueueUrl"]
    client.send_message(QueueUrl=url, MessageBody="work")
    return SqsDeviceQueue(url, client, wait_seconds=0)


def stubbed(service, operation, code, expected=None):
    client = boto3.client(service)
    stubber = Stubber(client)
    stubber.add_client_error(operation, code, expected_params=expected)
    stubber.activate()
    return client


def test_a_message_is_hidden_while_it_is_kept_comes_again_after_and_is_gone_when_done(queue):
    message = queue.take()

    assert message.body == "work"
    assert queue.take() is None
    queue.keep(message, 0)
    again = queue.take()
    assert again.body == "work"
    queue.keep(again, 0)
    queue.done(queue.take())
    assert queue.take() is None


def test_starting_a_job_twice_starts_it_once_and_stopping_an_unknown_one_does_nothing(aws):
    client = boto3.client("stepfunctions")
    arn = client.create_state_machine(name="m", definition=json.dumps(WAITS), roleArn=ROLE)
    executions = StepFunctionsExecutions(arn["stateMachineArn"], client)

    executions.start("job-00000001")
    executions.start("job-00000001")
    executions.stop("job-of-nobody", "no reason")

    found = client.list_executions(stateMachineArn=arn["stateMachineArn"])["executions"]
    assert [(e["name"], e["status"]) for e in found] == [("job-00000001", "RUNNING")]
    executions.stop("job-00000001", "asked by its owner")
    one = client.describe_execution(executionArn=found[0]["executionArn"])
    assert one["status"] == "ABORTED"


@pytest.mark.parametrize("code", ["TaskDoesNotExist", "TaskTimedOut", "InvalidToken"])
@pytest.mark.parametrize(
    ("verb", "operation", "arguments"),
    [
        ("succeed", "send_task_success", ({"outcome": "passed"},)),
        ("fail", "send_task_failure", ("DeviceLost", "it died")),
        ("beat", "send_task_heartbeat", ()),
    ],
)
def test_a_token_that_is_spent_late_or_unknown_is_a_conflict(aws, verb, operation, arguments, code):
    tokens = StepFunctionsTokens(stubbed("stepfunctions", operation, code))

    with pytest.raises(Conflict, match="used already, or its task is over"):
        getattr(tokens, verb)("token", *arguments)


def test_trouble_of_the_service_itself_is_no_conflict(aws):
    tokens = StepFunctionsTokens(stubbed("stepfunctions", "send_task_heartbeat", "AccessDenied"))

    with pytest.raises(ClientError, match="AccessDenied"):
        tokens.beat("token")


def test_a_long_cause_is_cut_to_what_the_service_takes(aws):
    client = boto3.client("stepfunctions")
    sent = {"taskToken": "token", "error": "DeviceLost", "cause": "x" * 32_000}
    with Stubber(client) as stubber:
        stubber.add_response("send_task_failure", {}, sent)
        StepFunctionsTokens(client).fail("token", "DeviceLost", "x" * 40_000)
        stubber.assert_no_pending_responses()


def test_a_table_that_throttles_is_busy_and_one_that_refuses_is_not(aws):
    throttled = stubbed("dynamodb", "get_item", "ProvisionedThroughputExceededException")
    refusing = stubbed("dynamodb", "get_item", "AccessDeniedException")

    with pytest.raises(StoreBusy, match="the table is busy"):
        DynamoRecords("jobs", throttled).get(Job, "JOB#a", "JOB")
    with pytest.raises(ClientError, match="AccessDenied"):
        DynamoRecords("jobs", refusing).get(Job, "JOB#a", "JOB")


@pytest.mark.parametrize("code", ["SlowDown", "ConditionalRequestConflict"])
def test_a_bucket_that_throttles_or_lost_a_race_is_busy(aws, code):
    with pytest.raises(StoreBusy, match=code):
        S3Artifacts("artifacts", stubbed("s3", "put_object", code)).put_new("k", b"1")


def test_a_gate_is_mailed_in_text_and_html_to_whom_the_job_names(aws):
    from moto.core import DEFAULT_ACCOUNT_ID
    from moto.ses.models import ses_backends

    client = boto3.client("sesv2", region_name="us-east-1")
    client.create_email_identity(EmailIdentity="nkiport@example.com")
    asked = job()
    named = asked.model_copy(
        update={"request": asked.request.model_copy(update={"notify": "owner@example.com"})}
    )
    notices = MailNotices(SesMailer("nkiport@example.com", client))

    for each in (asked, named):
        notices.tell(each, gate(), "https://example.com/gate-links/abc")

    sent = ses_backends[DEFAULT_ACCOUNT_ID]["us-east-1"].sent_messages
    assert [m.destinations["ToAddresses"] for m in sent] == [["owner@example.com"]]
    assert "job-00000001" in sent[0].subject
    assert "https://example.com/gate-links/abc" in sent[0].body


def gate():
    now = datetime(2026, 1, 2, tzinfo=UTC)
    return Gate(job_id="job-00000001", gate="scope", task_token="token", opened=now, expires=now)
