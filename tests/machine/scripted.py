"""Steps that follow a script: what the machine does with each kind of answer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lambdas._trouble import worded
from nkiport.contracts import steps
from nkiport.contracts.base import Contract
from nkiport.contracts.steps import DeviceResult, DeviceTask, GateResult, OpenGateRequest

REQUESTS = {
    "discover": steps.DiscoverRequest,
    "assess": steps.AssessRequest,
    "plan": steps.PlanRequest,
    "generate": steps.GenerateRequest,
    "judge": steps.JudgeRequest,
    "end_kernel": steps.EndKernelRequest,
    "emit_diff": steps.EmitDiffRequest,
    "deliver": steps.DeliverRequest,
    "finish": steps.FinishRequest,
    "bench_start": steps.BenchStartRequest,
    "bench_report": steps.BenchReportRequest,
}


@dataclass
class Script:
    """Answers of every step; ``said[step]`` collects the requests in order."""

    answers: dict[str, Callable[[Any], Contract]]
    said: dict[str, list[Any]] = field(default_factory=dict)

    def steps(self) -> dict[str, Callable[[dict[str, Any]], Any]]:
        """Return the dispatch table of the machine's Lambdas."""
        return {name: self._step(name) for name in REQUESTS}

    def _step(self, name: str) -> Callable[[dict[str, Any]], Any]:
        def step(event: dict[str, Any]) -> Any:
            request = REQUESTS[name].model_validate(worded(event))
            self.said.setdefault(name, []).append(request)
            return self.answers[name](request).model_dump(mode="json")

        return step


def all_well(**changed: Callable[[Any], Contract]) -> Script:
    """Every step answers as when all is well; name those that answer otherwise."""
    turns: dict[str, int] = {}

    def plan(q: steps.PlanRequest) -> Contract:
        turns[q.kernel_id] = turns.get(q.kernel_id, 0) + 1
        return steps.PlanResult(**dict(q), attempt=turns[q.kernel_id], action="generate")

    answers: dict[str, Callable[[Any], Contract]] = {
        "discover": lambda q: steps.DiscoverResult(job_id=q.job_id, outcome="found", found=3),
        "assess": lambda q: steps.AssessResult(
            job_id=q.job_id, kernel_id=q.kernel_id, outcome="ready"
        ),
        "plan": plan,
        "generate": lambda q: steps.GenerateResult(
            job_id=q.job_id,
            kernel_id=q.kernel_id,
            attempt=q.attempt,
            outcome="generated",
            candidate_key="candidate.py",
        ),
        "judge": lambda q: steps.JudgeResult(**dict(q), outcome="accepted"),
        "end_kernel": lambda q: steps.KernelResult(**dict(q)),
        "emit_diff": lambda q: steps.EmitDiffResult(job_id=q.job_id, accepted=1),
        "deliver": lambda q: steps.DeliverResult(job_id=q.job_id, outcome="delivered"),
        "finish": lambda q: steps.FinishResult(job_id=q.job_id, status=q.outcome),
    }
    return Script(answers | changed)


def approves(*kernels: str) -> Callable[[OpenGateRequest], GateResult]:
    """A person who approves these kernels at both gates."""
    return lambda q: GateResult(job_id=q.job_id, gate=q.gate, decision="approved", kernels=kernels)


def passes(task: DeviceTask) -> DeviceResult:
    """A worker whose every task passes."""
    return DeviceResult(
        job_id=task.job_id,
        kernel_id=task.kernel_id,
        step=task.step,
        attempt=task.attempt,
        outcome="passed",
    )


def answering(
    *outcomes: str, kernels: tuple[str, ...] = (), otherwise: str = ""
) -> Callable[[Any], Contract]:
    """A judge with these outcomes, one for each attempt; of other kernels, ``otherwise``."""

    def judge(q: steps.JudgeRequest) -> Contract:
        scripted = not kernels or q.kernel_id in kernels
        outcome = outcomes[q.attempt - 1] if scripted else otherwise
        return steps.JudgeResult(**dict(q), outcome=outcome)

    return judge


def rejects(gate: str, *, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A person who rejects one gate."""
    return lambda q: (
        GateResult(job_id=q.job_id, gate=q.gate, decision="rejected")
        if q.gate == gate
        else otherwise(q)
    )


def unasked(gate: str, *, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A person who never answers one gate."""
    return lambda q: None if q.gate == gate else otherwise(q)


def fails(
    step: str, *, times: int, how: Any = "failed", kernel: str | None = None
) -> Callable[[DeviceTask], Any]:
    """A worker whose step fails at first: as an outcome, by an exception, or (None) silently."""
    left = [how] * times

    def work(task: DeviceTask) -> Any:
        if task.step != step or kernel not in {None, task.kernel_id} or not left:
            return passes(task)
        said = left.pop()
        return passes(task).model_copy(update={"outcome": said}) if said == "failed" else said

    return work
