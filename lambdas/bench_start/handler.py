"""Submit the benchmark's tasks as one job."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from lambdas._execution import executions
from lambdas._settings import Serving
from lambdas._step import step
from lambdas._wiring import stores
from nkiport.adapters.memory import SystemClock
from nkiport.contracts.steps import BenchStartRequest, BenchStartResult
from nkiport.jobs.bench import start_benchmark

TASKS: Final = Path(__file__).resolve().parents[2] / "bench" / "tasks"
"""The asset holds them where the repository does."""


def build(env: Mapping[str, str]) -> Callable[[BenchStartRequest], BenchStartResult]:
    """Wire the stores, the tasks and the machine."""
    settings = Serving.from_env(env)
    return partial(
        start_benchmark,
        **stores(settings),
        tasks=TASKS,
        executions=executions(settings),
        clock=SystemClock(),
    )


handler = step(BenchStartRequest, build)
