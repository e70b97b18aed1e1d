"""Everything in which two deployments differ, as one value. Constructs never read context."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal, Self

from constructs import Node

from stacks import ROOT


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """The choices of one deployment; the defaults are those of an AWS account."""

    stage: str = "prod"
    auth: Literal["iam", "token"] = "iam"
    layers: Path = ROOT / ".build" / "layers" / "lambda"
    """A folder with one folder for each layer, as ``stacks.layers`` builds it for a platform."""
    tracing: bool = True
    """Whether Powertools sends traces; there must be an X-Ray daemon to take them."""
    emulated: bool = False
    """Whether API addresses are those of the emulator, at the parameter ``PublicEndpoint``."""
    verify_sender: bool = True
    """Whether SES is asked to verify ``mail_sender``; no, where the account did that already."""
    device_visibility_seconds: int = 120
    """How long a device message stays with a worker that stopped extending it."""
    mail_sender: str = "nkiport@example.com"
    claude_model_id: str = "us.anthropic.claude-opus-4-8"
    qwen_cmi_arn: str = ""
    vllm_endpoint: str = ""
    bench_schedule: str = "rate(7 days)"
    alarm_mail: str = ""
    monthly_budget_usd: int = 500
    worker_repository: str = "nkiport-trn-worker"
    worker_tag: str = "latest"
    worker_instance: str = "trn1.2xlarge"
    most_workers: int = 2

    @classmethod
    def from_context(cls, node: Node) -> Self:
        """Read ``-c name=value`` of each field over the defaults of the stage."""
        stage = node.try_get_context("stage") or "prod"
        defaults = LOCAL if stage == "local" else {}
        return cls(**defaults | _overrides(node))


LOCAL: Final[dict[str, Any]] = {
    "stage": "local",
    "auth": "token",
    "layers": ROOT / ".build" / "layers" / "mounts",
    "tracing": False,
    "emulated": True,
    "device_visibility_seconds": 30,
}
"""What the emulator needs to be different."""


def _overrides(node: Node) -> dict[str, object]:
    given = {field: node.try_get_context(field.name) for field in fields(Deployment)}
    return {
        field.name: _as(type(field.default), value)
        for field, value in given.items()
        if value is not None
    }


def _as(kind: Any, value: Any) -> Any:
    return value in {True, "true"} if kind is bool else kind(value)
