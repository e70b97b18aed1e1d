"""Add up an attempt's reports."""

from collections.abc import Callable, Mapping
from functools import partial

from lambdas._settings import Stores
from lambdas._step import step
from lambdas._wiring import stores
from nkiport.adapters.memory import SystemClock
from nkiport.contracts.steps import JudgeRequest, JudgeResult
from nkiport.jobs.judge import judge


def build(env: Mapping[str, str]) -> Callable[[JudgeRequest], JudgeResult]:
    """Wire the stores."""
    return partial(judge, **stores(Stores.from_env(env)), clock=SystemClock())


handler = step(JudgeRequest, build)
