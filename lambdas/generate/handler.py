"""Write an attempt's candidate."""

from collections.abc import Callable, Mapping
from functools import partial

from lambdas._models import backends
from lambdas._settings import Models
from lambdas._step import step
from lambdas._wiring import stores
from nkiport.adapters.memory import SystemClock
from nkiport.contracts.steps import GenerateRequest, GenerateResult
from nkiport.jobs.generate import generate


def build(env: Mapping[str, str]) -> Callable[[GenerateRequest], GenerateResult]:
    """Wire the stores and the backends."""
    settings = Models.from_env(env)
    return partial(generate, **stores(settings), backends=backends(settings), clock=SystemClock())


handler = step(GenerateRequest, build)
