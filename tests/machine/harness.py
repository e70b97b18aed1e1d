"""The checked-in machine, executed by moto, with steps, a person and a worker that tests script.

moto offers one place to answer a Lambda invocation without docker: its simple backend. Ours
dispatches to Python callables and reports an exception as the Lambda runtime does.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
from moto import mock_aws
from moto.awslambda_simple.models import LambdaSimpleBackend, lambda_simple_backends
from moto.stepfunctions.parser.models import stepfunctions_parser_backends

from nkiport.contracts.steps import DeviceResult, DeviceTask, GateResult, OpenGateRequest
from statemachine.render import FILE

REGION, ACCOUNT = "us-east-1", "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/machine"
CONFIG: Any = {
    "stepfunctions": {"execute_state_machine": True},
    "lambda": {"use_docker": False},
}
Step = Callable[[dict[str, Any]], Any]
Person = Callable[[OpenGateRequest], GateResult | None]
Worker = Callable[[DeviceTask], DeviceResult | Exception | None]
"""Return an outcome, an exception to report, or None to fall silent."""


class Dispatching(LambdaSimpleBackend):
    """A Lambda service whose functions are Python callables, one running at a time."""

    def __init__(self, region_name: str = REGION, account_id: str = ACCOUNT) -> None:
        super().__init__(region_name, account_id)
        self.steps: Mapping[str, Step] = {}
        self.lock = threading.Lock()

    def invoke(self, function_name, qualifier, body, headers, response_headers):
        step = self.steps[function_name.rpartition(":")[2]]
        try:
            with self.lock:
                return json.dumps(step(json.loads(body))).encode()
        except Exception as error:  # noqa: BLE001 - as the Lambda runtime does
            response_headers["x-amz-function-error"] = "Unhandled"
            told = {"errorType": type(error).__name__, "errorMessage": str(error)}
            return json.dumps(told).encode()


@dataclass
class Ended:
    """How an execution ended, and what went over the queues."""

    status: str
    output: dict[str, Any]
    gates: list[OpenGateRequest]
    tasks: list[DeviceTask]
    payloads: list[str]
    """What went into and came out of each state outside the child executions."""


SETTLED = 0.1
"""Seconds in which moto gets from sending a message to waiting for its token."""


@dataclass
class World:
    """One state machine, its two queues, and who answers them."""

    definition: dict[str, Any]
    person: Person
    worker: Worker
    gates: list[OpenGateRequest] = field(default_factory=list)
    tasks: list[DeviceTask] = field(default_factory=list)

    def run(self, name: str, message: dict[str, str] | None = None, seconds: float = 60) -> Ended:
        """Execute it, answering what comes over the queues, until it ends.

        The input of an execution is the id of its job, which is its name, unless given.
        """
        states, sqs = boto3.client("stepfunctions"), boto3.client("sqs")
        queues = {name: sqs.create_queue(QueueName=name)["QueueUrl"] for name in ("gate", "device")}
        machine = states.create_state_machine(
            name="Machine", definition=json.dumps(self.definition), roleArn=ROLE
        )["stateMachineArn"]
        said = {"job_id": name} if message is None else message
        execution = states.start_execution(
            stateMachineArn=machine, name=name, input=json.dumps(said)
        )["executionArn"]
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._answer(sqs, states, queues)
            told = states.describe_execution(executionArn=execution)
            if told["status"] != "RUNNING":
                output = json.loads(told.get("output") or "{}")
                payloads = _payloads(states, execution)
                return Ended(told["status"], output, self.gates, self.tasks, payloads)
            threading.Event().wait(0.02)
        raise TimeoutError(f"the execution did not end in {seconds} s")

    def _answer(self, sqs: Any, states: Any, queues: Mapping[str, str]) -> None:
        for body in _taken(sqs, queues["gate"]):
            self.gates.append(OpenGateRequest.model_validate_json(body))
            _tell(states, self.gates[-1].task_token, self.person(self.gates[-1]))
        for body in _taken(sqs, queues["device"]):
            self.tasks.append(DeviceTask.model_validate_json(body))
            _tell(states, self.tasks[-1].task_token, self.worker(self.tasks[-1]))


def _payloads(states: Any, execution: str) -> list[str]:
    pages = states.get_paginator("get_execution_history").paginate(executionArn=execution)
    details = (
        detail
        for page in pages
        for event in page["events"]
        for detail in event.values()
        if isinstance(detail, dict)
    )
    return [detail[way] for detail in details for way in ("input", "output") if way in detail]


def _taken(sqs: Any, queue: str) -> Iterator[str]:
    received = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)
    for message in received.get("Messages", []):
        sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
        threading.Event().wait(SETTLED)
        yield message["Body"]


def _tell(states: Any, token: str, answer: Any) -> None:
    if isinstance(answer, Exception):  # not by the client: moto's endpoint drops the cause
        backend = stepfunctions_parser_backends[ACCOUNT][REGION]
        backend.send_task_failure(token, error=type(answer).__name__, cause=str(answer))
    elif answer is not None:
        _succeed(states, token, answer.model_dump_json())


def _succeed(states: Any, token: str, output: str, seconds: float = 5) -> None:
    """Return a token; moto sends a message a moment before it knows the token inside."""
    last = time.monotonic() + seconds
    while True:
        try:
            states.send_task_success(taskToken=token, output=output)
        except states.exceptions.InvalidToken:
            if time.monotonic() > last:
                raise
            threading.Event().wait(0.02)
        else:
            return


@contextmanager
def aws(steps: Mapping[str, Step]) -> Iterator[None]:
    """Everything of AWS that the machine touches, in this process."""
    with mock_aws(config=CONFIG):
        functions = lambda_simple_backends[ACCOUNT][REGION] = Dispatching()
        functions.steps = steps
        yield
        del lambda_simple_backends[ACCOUNT][REGION]


def hurried(value: Any, *, gate_seconds: int = 300, heartbeat_seconds: int = 200) -> Any:
    """Copy the checked-in definition with its waits cut short and nothing else changed.

    A limit is short only where it is to be reached: on a busy machine the rest may be slow.
    """
    waits = {"gate_seconds": gate_seconds, "heartbeat_seconds": heartbeat_seconds}
    short = {
        "IntervalSeconds": 1, "BackoffRate": 1.0, "HeartbeatSeconds": heartbeat_seconds,
        "TimeoutSeconds": 300, "MaxDelaySeconds": 2, "Seconds": 1,
    }  # fmt: skip
    if isinstance(value, list):
        return [hurried(item, **waits) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("Resource", "").endswith("waitForTaskToken") and "HeartbeatSeconds" not in value:
        short["TimeoutSeconds"] = gate_seconds
    return {name: short.get(name, hurried(item, **waits)) for name, item in value.items()}


def checked_in(file: Path = FILE) -> dict[str, Any]:
    """Read a golden machine."""
    return json.loads(file.read_text())
