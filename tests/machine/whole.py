"""A whole job: every step of the machine, both gates and the worker as they are.

Only the edges are doubles: stores in memory, a person who is a function, a model with a script.
"""

import base64
import io
import json
import random
import threading
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import boto3
from moto.stepfunctions.parser.models import stepfunctions_parser_backends

from lambdas._trouble import worded
from nkiport.adapters.local_signer import LocalSigner
from nkiport.adapters.memory import Artifacts, Records, SystemClock
from nkiport.adapters.sqs_device_queue import SqsDeviceQueue
from nkiport.adapters.step_functions import StepFunctionsExecutions, StepFunctionsTokens
from nkiport.capture import ChildReferences
from nkiport.contracts.jobs import ENDED, Attempt, Job, JobRequest, Kernel, UploadSource
from nkiport.contracts.steps import DeviceTask, GateAnswer, OpenGateRequest
from nkiport.engines import FunctionalEngine
from nkiport.generation import Answer, Prompt, set_up
from nkiport.jobs.assess import assess
from nkiport.jobs.capture import capture
from nkiport.jobs.deliver import deliver
from nkiport.jobs.device import compile_candidate, profile_candidate, verify_candidate
from nkiport.jobs.discover import discover
from nkiport.jobs.emit_diff import emit_diff
from nkiport.jobs.end_kernel import end_kernel
from nkiport.jobs.finish import finish
from nkiport.jobs.gates import answer_gate, open_gate
from nkiport.jobs.generate import generate
from nkiport.jobs.judge import judge
from nkiport.jobs.links import GateLinks
from nkiport.jobs.plan import plan
from nkiport.jobs.service import submit_job
from nkiport.judge.draws import Trials
from tests.machine.harness import ACCOUNT, REGION, ROLE, aws, checked_in, hurried
from tests.machine.scripted import REQUESTS
from trn_worker.loop import Worker, run_once

OWNER = "owner"
MACHINE = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:Machine"


class ScriptedModel:
    """Claude, answering each question with the next of its sources."""

    model_id = "us.anthropic.claude-opus-4-8"

    def __init__(self, *sources: str) -> None:
        self._left = list(sources)
        self.asked: list[Prompt] = []

    def ask(self, prompt: Prompt) -> Answer:
        """Hand in a kernel; the bill is that of a short answer."""
        self.asked.append(prompt)
        return Answer(
            tool_input={"source": self._left.pop(0), "idea": "another"},
            text="",
            stop_reason="tool_use",
            input_tokens=1000,
            output_tokens=500,
            cache_read_tokens=0,
            cache_write_tokens=0,
            seconds=1.0,
        )


class Told:
    """Notices that were sent to the person."""

    def __init__(self) -> None:
        self.links: list[str] = []

    def tell(self, job: Any, gate: Any, link: str) -> None:
        self.links.append(link)


class Patient(SqsDeviceQueue):
    """The device queue: moto sends a message a moment before it knows the token inside."""

    def take(self) -> Any:
        message = super().take()
        if message is not None:
            known(DeviceTask.model_validate_json(message.body).task_token)
        return message


class Dying(Patient):
    """A queue whose first messages of one step are taken by a worker that dies with them."""

    def __init__(self, url: str, client: Any, step: str, times: int) -> None:
        super().__init__(url, client, wait_seconds=0)
        self.step, self.left, self.taken = step, times, 0

    def take(self) -> Any:
        message = super().take()
        if message is None:
            return None
        mine = DeviceTask.model_validate_json(message.body).step == self.step
        self.taken += mine
        if mine and self.left:
            self.left -= 1
            self.done(message)  # its visibility would bring it back; the machine sends a new one
            return None
        return message


def known(token: str, seconds: float = 10) -> None:
    """Wait until moto knows a token."""
    backend = stepfunctions_parser_backends[ACCOUNT][REGION]
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for execution in backend._get_executions():
            if execution.exec_worker.env.callback_pool_manager.get(token) is not None:
                return
        threading.Event().wait(0.02)
    raise TimeoutError("moto never learned of the token")


@dataclass
class Whole:
    """A job from its submission to its end."""

    files: Mapping[str, str]
    request: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, str | None] = field(default_factory=dict)
    """What the person says to each gate, approval unless named; None says nothing."""
    dies_at: str = ""
    """The step at whose first message a worker dies."""
    hurry: Mapping[str, int] = field(default_factory=dict)
    artifacts: Artifacts = field(default_factory=Artifacts)
    records: Records = field(default_factory=Records)
    told: Told = field(default_factory=Told)
    job_id: str = ""
    worked: int = 0
    """How many messages of the step the worker died at were sent."""

    def run(self, folder: Path, seconds: float = 600) -> "Whole":
        """Submit it, and answer what comes over the queues until it has ended."""
        with aws(self._steps(folder)):
            states, sqs = boto3.client("stepfunctions"), boto3.client("sqs")
            gates, device = (sqs.create_queue(QueueName=n)["QueueUrl"] for n in ("gate", "device"))
            states.create_state_machine(
                name="Machine",
                roleArn=ROLE,
                definition=json.dumps(hurried(checked_in(), **self.hurry)),
            )
            self.job_id = self._submit(states)
            queue = Dying(device, sqs, self.dies_at, 1 if self.dies_at else 0)
            worker = self._worker(queue, states)
            until = time.monotonic() + seconds
            while self.job().status not in ENDED:
                assert time.monotonic() < until, f"the job is {self.job().status} still"
                self._ask(sqs, gates, states)
                run_once(worker)
                threading.Event().wait(0.02)
            self.worked = queue.taken
        return self

    def job(self) -> Job:
        """The job's record."""
        found = self.records.get(Job, f"JOB#{self.job_id}", "JOB")
        assert found is not None
        return found

    def kernels(self) -> dict[str, Kernel]:
        """The kernels' records by id."""
        found = self.records.query(Kernel, f"JOB#{self.job_id}", "KERNEL#")
        return {kernel.kernel_id: kernel for kernel in found}

    def attempts(self, kernel: str) -> list[Attempt]:
        """Every attempt at a kernel."""
        return self.records.query(Attempt, f"JOB#{self.job_id}", f"ATTEMPT#{kernel}#")

    def _submit(self, states: Any) -> str:
        zipped = base64.b64encode(_zipped(self.files)).decode()
        request = JobRequest(source=UploadSource(zip_base64=zipped), **self.request)
        view = submit_job(
            request, owner=OWNER, artifacts=self.artifacts, records=self.records,
            executions=StepFunctionsExecutions(MACHINE, states), clock=SystemClock(),
        )  # fmt: skip
        return view.job_id

    def _steps(self, folder: Path) -> dict[str, Any]:
        stores = {"artifacts": self.artifacts, "records": self.records}
        clock, backends = {"clock": SystemClock()}, {"backends": set_up(**self.models)}
        table: dict[str, tuple[Any, dict[str, Any]]] = {
            "discover": (discover, stores | clock | {"git": None}),
            "assess": (assess, stores),
            "plan": (plan, stores | clock | backends),
            "generate": (generate, stores | clock | backends),
            "judge": (judge, stores | clock),
            "end_kernel": (end_kernel, stores | clock),
            "emit_diff": (emit_diff, stores | clock | {"signer": LocalSigner(folder / "key.pem")}),
            "deliver": (deliver, stores | {"forge": None}),
            "finish": (finish, {"records": self.records} | clock),
        }
        return {name: as_lambda(name, *each) for name, each in table.items()}

    def _worker(self, queue: Any, states: Any) -> Worker:
        stores: dict[str, Any] = {"artifacts": self.artifacts, "records": self.records}
        references = ChildReferences()
        device = {**stores, "engine": FunctionalEngine(), "references": references,
                  "inputs": Trials()}  # fmt: skip
        steps: dict[Any, Any] = {
            "capture": partial(capture, **stores, references=references),
            "compile": partial(compile_candidate, **device),
            "verify": partial(verify_candidate, **device),
            "profile": partial(profile_candidate, **device),
        }
        tokens = StepFunctionsTokens(states)
        return Worker(queue, tokens, self.records, steps, beat_seconds=0.5)

    def _ask(self, sqs: Any, queue: str, states: Any) -> None:
        """Open each gate that the machine asks for, and answer it as the person would."""
        received = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)
        for message in received.get("Messages", []):
            sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
            request = OpenGateRequest.model_validate_json(message["Body"])
            known(request.task_token)
            open_gate(
                request, records=self.records, notices=self.told, links=GateLinks("secret"),
                clock=SystemClock(),
            )  # fmt: skip
            decision = self.answers.get(request.gate, "approved")
            if decision:
                self._answer(request, decision, states)

    def _answer(self, request: OpenGateRequest, decision: str, states: Any) -> None:
        answer = GateAnswer(
            job_id=self.job_id,
            gate=request.gate,
            decision=decision,
            answered_by=OWNER,
        )
        answer_gate(
            answer, records=self.records, artifacts=self.artifacts, clock=SystemClock(),
            tokens=StepFunctionsTokens(states), entropy=random.SystemRandom(),
        )  # fmt: skip


def _zipped(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def as_lambda(name: str, function: Any, ports: dict[str, Any]) -> Any:
    """A step as its Lambda is called: an event in, JSON out."""

    def invoked(event: dict[str, Any]) -> Any:
        request = REQUESTS[name].model_validate(worded(event))
        return function(request, **ports).model_dump(mode="json")

    return invoked
