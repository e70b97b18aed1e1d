"""One line of JSON for each task that ended: what a run leaves, and what a resumed one skips."""

import json
import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

Outcome = Literal["accepted", "accepted_slow", "abandoned", "not_judged"]


class TaskResult(BaseModel):
    """How one task ended. ``roofline_share`` is 0 to 1, None where nothing was estimated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str
    outcome: Outcome
    backend: str
    level: str = ""
    engine: str = ""
    attempts: int = 0
    compiled: bool = False
    """The candidate passed policy and compile; a placeholder does not pass policy."""
    correct: bool = False
    """The numbers agreed on seeds drawn after the candidate was written."""
    roofline_share: float | None = None
    p50_us: float | None = None
    """Estimated or measured, as ``level`` says."""
    roofline_us: float | None = None
    memory_bound: bool | None = None
    """Whether traffic, not arithmetic, is what the roofline is made of."""
    traffic_ratio: float | None = None
    """Bytes that passed HBM, by the bytes of the reference's inputs and outputs."""
    bound_by: str = ""
    """The engine that is busy longest."""
    busy: float | None = None
    """How much of the time that engine is busy, 0 to 1."""
    failed_stage: str = ""
    reason: str = ""
    seconds: float = 0.0
    tokens: int = 0
    usd: float = 0.0


def read(path: Path) -> dict[str, TaskResult]:
    """The results of a run so far, by task. A line that a kill cut short is left out."""
    found: dict[str, TaskResult] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            result = TaskResult.model_validate_json(line)
        except ValidationError:
            continue
        found[result.task] = result
    return found


def append(path: Path, result: TaskResult) -> None:
    """Add one line, and see it on the disk before the next task counts on it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(result.model_dump(mode="json")) + "\n"
    with path.open("ab+") as file:
        file.write((b"" if _ends_well(path) else b"\n") + line.encode())
        file.flush()
        os.fsync(file.fileno())


def _ends_well(path: Path) -> bool:
    data = path.read_bytes()
    return not data or data.endswith(b"\n")
