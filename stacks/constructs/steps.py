"""What each Lambda carries: its settings, packages, layers, time and memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

LayerName = Literal["base", "source", "numeric"]
STORES: Final = ("ARTIFACT_BUCKET", "TABLE_NAME")
MODELS: Final = ("CLAUDE_MODEL_ID", "QWEN_CMI_ARN", "VLLM_ENDPOINT")
SURFACE: Final = ("nkiport/judge",)
WRITING: Final = ("nkiport/generation", "nkiport/lowering", "nkiport/nki", "nkiport/skills")


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One function's needs. ``settings`` are the names of its environment variables."""

    settings: Sequence[str] = STORES
    needs: Sequence[str] = ()
    layers: Sequence[LayerName] = ("base",)
    seconds: int = 60
    memory_mb: int = 512


SPECS: Final = {
    "discover": Spec(
        needs=("nkiport/discovery",), layers=("base", "source"), seconds=600, memory_mb=2048
    ),
    "assess": Spec(needs=WRITING, layers=("base", "numeric"), memory_mb=1024),
    "plan": Spec(needs=WRITING, layers=("base", "numeric"), settings=(*STORES, *MODELS)),
    "generate": Spec(
        needs=WRITING,
        layers=("base", "numeric"),
        settings=(*STORES, *MODELS),
        seconds=840,
        memory_mb=1024,
    ),
    "judge": Spec(needs=("nkiport/judge",), layers=("base", "numeric")),
    "end_kernel": Spec(needs=("nkiport/judge", "nkiport/skills"), layers=("base", "numeric")),
    "emit_diff": Spec(
        needs=("nkiport/delivery", "nkiport/judge"),
        layers=("base", "source", "numeric"),
        settings=(*STORES, "EVIDENCE_KEY_ARN"),
        seconds=300,
        memory_mb=1024,
    ),
    "deliver": Spec(
        needs=("nkiport/delivery",),
        layers=("base", "source"),
        settings=(*STORES, "GITHUB_TOKEN_SECRET_ARN"),
        seconds=300,
        memory_mb=1024,
    ),
    "finish": Spec(settings=("TABLE_NAME",)),
    "open_gate": Spec(settings=("TABLE_NAME", "MAIL_SENDER", "LINK_SECRET_ARN", "PUBLIC_BASE_URL")),
    "api": Spec(needs=SURFACE, layers=("base", "numeric"), settings=(*STORES, "STATE_MACHINE_ARN")),
    "gate_link": Spec(
        needs=SURFACE, layers=("base", "numeric"), settings=(*STORES, "LINK_SECRET_ARN")
    ),
    "authorizer": Spec(settings=("API_TOKEN_SECRET_ARN",)),
    "bench_start": Spec(needs=("bench/tasks",), settings=(*STORES, "STATE_MACHINE_ARN")),
    "bench_report": Spec(needs=SURFACE, layers=("base", "numeric")),
}
"""By the step's name, which is its folder under ``lambdas``."""
