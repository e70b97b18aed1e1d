"""Give a job its last status."""

from collections.abc import Callable, Mapping
from functools import partial

from lambdas._settings import Table
from lambdas._step import step
from lambdas._wiring import records
from nkiport.adapters.memory import SystemClock
from nkiport.contracts.steps import FinishRequest, FinishResult
from nkiport.jobs.finish import finish


def build(env: Mapping[str, str]) -> Callable[[FinishRequest], FinishResult]:
    """Wire the table."""
    return partial(finish, records=records(Table.from_env(env)), clock=SystemClock())


handler = step(FinishRequest, build)
