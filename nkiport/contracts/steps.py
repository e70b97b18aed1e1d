"""What each step of the state machine takes and gives. Small: large things travel as keys."""

from typing import Literal

from pydantic import Field

from nkiport.contracts.base import (
    AttemptMessage,
    BackendName,
    Contract,
    JobMessage,
    KernelId,
    KernelMessage,
)
from nkiport.contracts.judgement import Requirements

DeviceStep = Literal["capture", "compile", "verify", "profile"]


class DiscoverRequest(JobMessage):
    """Read the job's source and walk it."""


class DiscoverResult(JobMessage):
    """``outcome`` other than ``found`` ends the job."""

    outcome: Literal["found", "nothing_found", "bad_source", "cancelled"]
    found: int = 0
    reason: str = ""


class OpenGateRequest(JobMessage):
    """The body of a gate message; the token is the state machine's."""

    gate: Literal["scope", "requirements"]
    task_token: str
    timeout_seconds: int


class GateResult(JobMessage):
    """A person's answer, returned with the token."""

    gate: Literal["scope", "requirements"]
    decision: Literal["approved", "rejected"]
    kernels: tuple[KernelId, ...] = Field(default=(), description="those to go on with")


class GateAnswer(JobMessage):
    """What a surface sends when a person answers."""

    gate: Literal["scope", "requirements"]
    decision: Literal["approved", "rejected"]
    kernels: tuple[KernelId, ...] | None = Field(default=None, description="None means all")
    requirements: Requirements | None = None
    answered_by: str = ""


class DeviceTask(KernelMessage):
    """The body of a device-queue message. ``attempt`` is 0 for a capture."""

    step: DeviceStep
    task_token: str
    attempt: int = 0


class DeviceResult(KernelMessage):
    """What the worker returns with the token; details lie under ``report_key``."""

    step: DeviceStep
    attempt: int = 0
    outcome: Literal["passed", "failed"]
    reason: str = Field(default="", max_length=2000)
    report_key: str | None = None
    seconds: float = 0


class AssessRequest(KernelMessage):
    """Read what capture gave; ``captured`` is the worker's outcome."""

    captured: Literal["passed", "failed", "lost"]
    reason: str = ""


class AssessResult(KernelMessage):
    """Whether the kernel can go on to gate 2, with what was found out about it."""

    outcome: Literal["ready", "not_captured", "not_judged"]
    confidence: Literal["high", "medium", "low"] = "low"
    backend: BackendName = "auto"
    skill_score: float = 0
    reason: str = ""


class PlanRequest(KernelMessage):
    """Decide the next attempt, or stop."""


class PlanResult(AttemptMessage):
    """``Plan`` decides, ``Generate`` obeys."""

    action: Literal["generate", "stop"]
    backend: BackendName = "recipes"
    reason: str = ""


class GenerateRequest(AttemptMessage):
    """Write the attempt's candidate with this backend."""

    backend: BackendName


class GenerateResult(AttemptMessage):
    """``failed`` carries the reason and is judged like any failure."""

    outcome: Literal["generated", "failed"]
    candidate_key: str | None = None
    reason: str = ""


class JudgeRequest(AttemptMessage):
    """Read the attempt's reports and add them up."""


class JudgeResult(AttemptMessage):
    """``again`` goes back to ``Plan``."""

    outcome: Literal["accepted", "accepted_slow", "again"]
    reason: str = ""


class EndKernelRequest(KernelMessage):
    """Record how a kernel ended when no verdict did: stopped by the plan, or trouble."""

    outcome: Literal["abandoned", "not_judged"]
    reason: str = ""


class KernelResult(KernelMessage):
    """What a child execution returns: always an outcome, never an error."""

    outcome: Literal["accepted", "accepted_slow", "abandoned", "not_judged"]
    reason: str = ""


class EmitDiffRequest(JobMessage):
    """Write the patch and the evidence of every accepted kernel."""


class EmitDiffResult(JobMessage):
    """``accepted`` is 0 when there is nothing to deliver."""

    accepted: int
    patch_key: str | None = None
    reason: str = ""


class DeliverRequest(JobMessage):
    """Offer the patch where the job asked."""


class DeliverResult(JobMessage):
    """``pull_request`` is a URL, or None when none was asked for."""

    outcome: Literal["delivered", "failed"]
    pull_request: str | None = None
    branch: str | None = None
    reason: str = ""


class FinishRequest(JobMessage):
    """Give the job its last status."""

    outcome: Literal[
        "delivered", "nothing_found", "nothing_accepted", "gate_rejected", "gate_expired",
        "bad_source", "cancelled", "failed",
    ]  # fmt: skip
    reason: str = ""


class FinishResult(JobMessage):
    """The job's last status."""

    status: str


class BenchStartRequest(Contract):
    """Submit the benchmark's tasks as one job; ``started`` names the run, so twice is once."""

    started: str = Field(min_length=1, max_length=64)


class BenchStartResult(JobMessage):
    """The job whose kernels are the benchmark's tasks."""

    outcome: Literal["started"] = "started"


class BenchReportRequest(JobMessage):
    """Answer the gates that wait, and write the report when the job has ended."""


class BenchReportResult(JobMessage):
    """``running`` asks again later."""

    outcome: Literal["running", "reported"]
    accepted: int = 0
    total: int = 0
    report_key: str | None = None
