"""The real steps over ports in memory, from the state that the two gates leave a job in.

A worker's results are scripted, but its reports are written where the worker writes them.
"""

import hashlib
import io
import zipfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from lambdas._trouble import worded
from nkiport.adapters.memory import Artifacts, Records, SystemClock
from nkiport.contracts import keys
from nkiport.contracts.base import Contract
from nkiport.contracts.capture import Capture, Reference
from nkiport.contracts.graph import Graph, Node, Ref
from nkiport.contracts.jobs import Attempt, Job, JobRequest, Kernel, KeySource
from nkiport.contracts.judgement import Check, Finding, Oracle, Requirements, Seed, StageReport
from nkiport.contracts.steps import DeviceResult, DeviceTask, EmitDiffRequest, EmitDiffResult
from nkiport.contracts.tensors import InputSpec, TensorSpec
from nkiport.generation import Answer, Prompt, set_up
from nkiport.jobs.end_kernel import end_kernel
from nkiport.jobs.finish import finish
from nkiport.jobs.generate import generate
from nkiport.jobs.judge import judge
from nkiport.jobs.plan import plan
from tests.machine.scripted import REQUESTS, all_well

JOB = "job-00000001"
SOURCE = b"import torch\n\n\nclass Model(torch.nn.Module):\n    ...\n"
STAGES = {"compile": ("policy", "compile"), "verify": ("numbers",), "profile": ("plausibility",)}
SEED = Seed(seed=7, nonce="n")


@dataclass
class Real:
    """A job past its second gate, its ports, and the dispatch table of the machine's Lambdas."""

    kernels: tuple[str, ...] = ("softmax",)
    requirements: Requirements = field(default_factory=Requirements)
    backend: str = "recipes"
    models: dict[str, Any] = field(default_factory=dict)
    artifacts: Artifacts = field(default_factory=Artifacts)
    records: Records = field(default_factory=Records)

    def __post_init__(self) -> None:
        self.records.add(_job(self.backend, self.requirements))
        self.artifacts.put(keys.source(JOB), _zipped({"model.py": SOURCE}))
        for kernel in self.kernels:
            self._past_the_gates(kernel)

    def steps(self) -> dict[str, Any]:
        """The loop's steps as they are, and a script for the rest."""
        stores = {"artifacts": self.artifacts, "records": self.records}
        clock = {"clock": SystemClock()}
        backends = {"backends": set_up(**self.models)}
        real = {
            "plan": (plan, stores | clock | backends),
            "generate": (generate, stores | clock | backends),
            "judge": (judge, stores | clock),
            "end_kernel": (end_kernel, stores | clock),
            "finish": (finish, {"records": self.records} | clock),
        }
        return all_well(emit_diff=self._emit_diff).steps() | {
            name: _lambda(name, function, ports) for name, (function, ports) in real.items()
        }

    def _emit_diff(self, request: EmitDiffRequest) -> EmitDiffResult:
        accepted = sum(self.kernel(name).status == "accepted" for name in self.kernels)
        return EmitDiffResult(job_id=request.job_id, accepted=accepted)

    def attempts(self, kernel: str = "softmax") -> list[Attempt]:
        """Every attempt at a kernel."""
        return self.records.query(Attempt, f"JOB#{JOB}", f"ATTEMPT#{kernel}#")

    def kernel(self, name: str = "softmax") -> Kernel:
        """The kernel's record."""
        found = self.records.get(Kernel, f"JOB#{JOB}", f"KERNEL#{name}")
        assert found is not None
        return found

    def job(self) -> Job:
        """The job's record."""
        found = self.records.get(Job, f"JOB#{JOB}", "JOB")
        assert found is not None
        return found

    def worker(self, *failures: tuple[str, str, int]) -> Any:
        """A worker whose reports fail for each (step, kernel, attempt) that is named."""

        def work(task: DeviceTask) -> DeviceResult:
            failed = (task.step, task.kernel_id, task.attempt) in failures
            result = DeviceResult(
                **task.model_dump(exclude={"task_token"}), outcome="failed" if failed else "passed"
            )
            if task.step == "capture":
                return result
            key = keys.report(JOB, task.kernel_id, task.attempt, task.step)
            report = _report(task, failed=failed)
            self.artifacts.put(key, report.model_dump_json().encode())
            return result.model_copy(update={"report_key": key})

        return work

    def _past_the_gates(self, kernel: str) -> None:
        capture = _capture(kernel)
        oracle = _oracle(kernel, capture, self.requirements)
        self.artifacts.put(keys.capture(JOB, kernel), _json(capture))
        self.artifacts.put(keys.oracle(JOB, kernel), _json(oracle))
        self.artifacts.put(keys.seed(JOB, kernel), _json(SEED))
        self.records.add(
            Kernel(
                job_id=JOB, kernel_id=kernel, name=kernel, kind="module", file="model.py", line=4,
                status="captured", reference=capture.reference,
            )
        )  # fmt: skip


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


def _lambda(name: str, function: Any, ports: dict[str, Any]) -> Any:
    def invoked(event: dict[str, Any]) -> Any:
        request = REQUESTS[name].model_validate(worded(event))
        return function(request, **ports).model_dump(mode="json")

    return invoked


def _job(backend: str, requirements: Requirements) -> Job:
    now = datetime.now(UTC)
    return Job(
        job_id=JOB,
        request=JobRequest(
            source=KeySource(key="uploads/source.zip"), backend=backend, requirements=requirements
        ),
        request_sha256=hashlib.sha256(b"").hexdigest(),
        status="migrating",
        created=now,
        updated=now,
        deadline=now + timedelta(hours=1),
    )


def _capture(kernel: str) -> Capture:
    x = InputSpec(name="x", shape=(128, 256))
    softmax = Node(
        name="y", op="aten._softmax.default", args=(Ref(ref="x"), -1, False), shape=x.shape
    )
    return Capture(
        reference=Reference(kind="module", file="model.py", symbol="Model"),
        source_sha256=hashlib.sha256(SOURCE).hexdigest(),
        inputs=(x,),
        outputs=(TensorSpec(name="y", shape=x.shape),),
        graph=Graph(inputs=(x,), nodes=(softmax,), outputs=(Ref(ref="y"),)),
        flops=5 * 128 * 256,
        bytes_moved=2 * 4 * 128 * 256,
    )


def _oracle(kernel: str, capture: Capture, requirements: Requirements) -> Oracle:
    return Oracle(
        job_id=JOB,
        kernel_id=kernel,
        source_sha256=capture.source_sha256,
        reference=capture.reference,
        inputs=capture.inputs,
        outputs=capture.outputs,
        requirements=requirements,
        seed_commitment=hashlib.sha256(_json(SEED)).hexdigest(),
        flops=capture.flops,
        bytes_moved=capture.bytes_moved,
    )


def _report(task: DeviceTask, *, failed: bool) -> StageReport:
    finding = Finding(code=f"{task.step}-{task.attempt}", asked=f"attempt {task.attempt} is wrong")
    *before, last = [_passed(stage) for stage in STAGES[task.step]]
    if failed:
        wrong = {"result": "failed", "detail": finding.asked, "findings": (finding,)}
        last = last.model_copy(update=wrong)
    return StageReport(
        job_id=JOB,
        kernel_id=task.kernel_id,
        attempt=task.attempt,
        step=task.step,
        level="functional",
        engine="scripted 1",
        checks=(*before, last),
    )


def _passed(stage: str) -> Check:
    return Check(name=stage, stage=stage, result="passed", detail="as it should be")


def _json(message: Contract) -> bytes:
    return message.model_dump_json().encode()


def _zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()
