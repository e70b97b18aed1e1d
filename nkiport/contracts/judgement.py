"""Findings, checks and verdicts."""

from typing import Literal

from pydantic import Field

from nkiport.contracts.base import (
    AttemptMessage,
    Contract,
    EvidenceLevel,
    KernelMessage,
    Sha256,
    Stage,
    TargetName,
)
from nkiport.contracts.capture import Reference
from nkiport.contracts.tensors import InputSpec, TensorSpec

CheckResult = Literal["passed", "failed", "not_measured"]


class Finding(Contract):
    """One thing wrong with a candidate, in four parts: asked, allowed, where, what to do."""

    code: str
    severity: Literal["error", "warning"] = "error"
    line: int | None = None
    asked: str
    allowed: str = ""
    fix: str = ""

    def sentence(self, file: str = "candidate.py") -> str:
        """One line for people and prompts."""
        where = f"{file}:{self.line}: " if self.line else f"{file}: "
        parts = [f"{where}{self.code}: {self.asked}", self.allowed, self.fix]
        return "; ".join(part for part in parts if part)


class Check(Contract):
    """One named check of a verdict, with the numbers it was decided on."""

    name: str
    stage: Stage
    result: CheckResult
    detail: str = Field(description="a sentence; for not_measured, the reason")
    numbers: dict[str, float | None] = {}
    findings: tuple[Finding, ...] = ()


class Tolerance(Contract):
    """``|candidate - golden| <= atol + rtol * |golden|``, element by element."""

    atol: float = Field(default=1e-3, ge=0)
    rtol: float = Field(default=1e-3, ge=0)


class Requirements(Contract):
    """What gate 2 signs. Defaults are those of the design, section 4; each can be changed."""

    tolerance: Tolerance = Tolerance()
    max_turns: int = Field(default=10, ge=1, le=50)
    max_failed_compiles: int = Field(default=5, ge=1, le=50)
    max_failed_verifications: int = Field(default=3, ge=1, le=50)
    max_minutes: int = Field(default=30, ge=1, le=24 * 60)
    spend_cap_usd: float = Field(default=5.0, ge=0, le=10_000)
    min_roofline_share: float | None = Field(
        default=None, ge=0, le=1, description="asked of the estimate where there is no device"
    )
    min_speedup: float = Field(
        default=1.0, gt=0, description="baseline time / candidate time, on a device"
    )


class Oracle(KernelMessage):
    """The sealed record of one kernel: written once at gate 2, never changed."""

    source_sha256: Sha256
    commit: str = ""
    reference: Reference
    inputs: tuple[InputSpec, ...]
    outputs: tuple[TensorSpec, ...]
    requirements: Requirements
    target: TargetName = "trn1"
    seed_commitment: Sha256 = Field(description="SHA-256 of the secret seed's JSON")
    float64_golden: bool = True
    flops: float = 0
    bytes_moved: float = 0


class Seed(Contract):
    """The secret the oracle commits to; revealed in the evidence after the verdict."""

    seed: int
    nonce: str


class StageReport(AttemptMessage):
    """What a device step found: every check it ran."""

    step: Literal["compile", "verify", "profile"]
    level: EvidenceLevel
    engine: str = Field(description="name and version of what ran the candidate")
    checks: tuple[Check, ...]
    seconds: float = 0
    candidate_sha256: Sha256 | None = Field(
        default=None, description="what was run; the judge leaves out reports on anything else"
    )

    @property
    def passed(self) -> bool:
        """Whether no check failed; what was not measured does not fail."""
        return all(check.result != "failed" for check in self.checks)


class Verdict(AttemptMessage):
    """The judged attempt: every check in the order of the design, and what it adds up to."""

    outcome: Literal["accepted", "accepted_slow", "rejected"]
    level: EvidenceLevel
    candidate_sha256: Sha256
    checks: tuple[Check, ...]
    feedback: str = Field(default="", description="the first failure, for the next attempt")

    @property
    def first_failure(self) -> Check | None:
        """The first failed check, if any."""
        return next((check for check in self.checks if check.result == "failed"), None)
