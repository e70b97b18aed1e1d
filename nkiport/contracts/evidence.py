"""Evidence: what was measured, where, on what. Data first; markdown is rendered from it."""

from datetime import datetime

from pydantic import Field

from nkiport.contracts.base import BackendName, Contract, EvidenceLevel, Sha256, TargetName
from nkiport.contracts.judgement import Oracle, Seed, Verdict


class Environment(Contract):
    """Versions and options of everything that took part."""

    nkiport: str
    python: str
    platform: str
    packages: dict[str, str] = {}
    options: dict[str, str] = Field(default={}, description="simulator or compiler options")


class Evidence(Contract):
    """The predicate of the in-toto statement for one ended kernel."""

    job_id: str
    kernel_id: str
    kernel: str
    kind: str
    file: str
    level: EvidenceLevel
    target: TargetName
    engine: str
    backend: BackendName
    attempts: int
    oracle: Oracle
    seed: Seed = Field(description="the reveal; its hash is the oracle's commitment")
    reference_sha256: Sha256
    candidate_sha256: Sha256
    verdict: Verdict
    tokens: int = 0
    usd: float = 0
    environment: Environment
    finished: datetime

    @property
    def headline(self) -> str:
        """The first line of every rendering: the claim, and where it was measured."""
        where = {
            "silicon": "verified on hardware",
            "vendor_simulator": "vendor simulator evidence, not hardware",
            "functional": "functional evidence, not hardware",
        }[self.level]
        word = self.verdict.outcome.replace("_", " ")
        warning = " but short of its speed budget" if word == "accepted slow" else ""
        return f"{self.kernel}: accepted{warning}: {where} ({self.engine})"
