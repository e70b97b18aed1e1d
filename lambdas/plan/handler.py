"""Decide a kernel's next attempt, or stop."""

from collections.abc import Callable, Mapping
from functools import partial

from lambdas._models import backends
from lambdas._settings import Models
from lambdas._step import step
from lambdas._wiring import stores
from nkiport.adapters.memory import SystemClock
from nkiport.contracts.steps import PlanRequest, PlanResult
from nkiport.jobs.plan import plan


def build(env: Mapping[str, str]) -> Callable[[PlanRequest], PlanResult]:
    """Wire the stores and name the backends there are."""
    settings = Models.from_env(env)
    return partial(plan, **stores(settings), backends=backends(settings), clock=SystemClock())


handler = step(PlanRequest, build)
