"""What each Lambda carries beside the code it imports: settings, layers, time and memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

LayerName = Literal["base", "source", "numeric"]
STORES: Final = ("ARTIFACT_BUCKET", "TABLE_NAME")
MODELS: Final = ("CLAUDE_MODEL_ID", "QWEN_CMI_ARN", "VLLM_ENDPOINT")
NUMERIC: Final[tuple[LayerName, ...]] = ("base", "numeric")
SOURCE: Final[tuple[LayerName, ...]] = ("base", "source")

ANSWER_SECONDS: Final = 29
"""API Gateway waits no longer: https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html"""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One function's needs. ``settings`` are the names of its environment variables."""

    settings: Sequence[str] = STORES
    data: Sequence[str] = ()
    """Folders of files it reads that no package of its imports holds."""
    layers: Sequence[LayerName] = ("base",)
    seconds: int = 60
    memory_mb: int = 512


SPECS: Final = {
    "discover": Spec(layers=SOURCE, seconds=600, memory_mb=2048),
    "assess": Spec(layers=NUMERIC, memory_mb=1024),
    "plan": Spec(layers=NUMERIC, settings=(*STORES, *MODELS)),
    "generate": Spec(layers=NUMERIC, settings=(*STORES, *MODELS), seconds=840, memory_mb=2048),
    "judge": Spec(layers=NUMERIC),
    "end_kernel": Spec(layers=NUMERIC),
    "emit_diff": Spec(
        layers=("base", "source", "numeric"),
        settings=(*STORES, "EVIDENCE_KEY_ARN"),
        seconds=300,
        memory_mb=1024,
    ),
    "deliver": Spec(
        layers=SOURCE,
        settings=(*STORES, "GITHUB_TOKEN_SECRET_ARN"),
        seconds=300,
        memory_mb=1024,
    ),
    "finish": Spec(settings=("TABLE_NAME",)),
    "open_gate": Spec(settings=("TABLE_NAME", "MAIL_SENDER", "LINK_SECRET_ARN", "PUBLIC_BASE_URL")),
    "api": Spec(
        layers=NUMERIC, settings=(*STORES, "STATE_MACHINE_ARN"), seconds=ANSWER_SECONDS
    ),
    "gate_link": Spec(
        layers=NUMERIC, settings=(*STORES, "LINK_SECRET_ARN"), seconds=ANSWER_SECONDS
    ),
    "authorizer": Spec(settings=("API_TOKEN_SECRET_ARN",), seconds=10),
    "bench_start": Spec(data=("bench/tasks",), settings=(*STORES, "STATE_MACHINE_ARN")),
    "bench_report": Spec(layers=NUMERIC),
    "redrive": Spec(
        settings=("GATE_QUEUE_URL", "GATE_DEAD_LETTERS_URL", "DEVICE_QUEUE_URL",
                  "DEVICE_DEAD_LETTERS_URL"),
        seconds=300,
    ),
}  # fmt: skip
"""By the step's name, which is its folder under ``lambdas``."""
