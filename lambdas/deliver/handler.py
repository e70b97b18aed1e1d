"""Offer the patch where the job asked."""

from collections.abc import Callable, Mapping
from functools import partial

from lambdas._settings import Delivering
from lambdas._step import step
from lambdas._wiring import forge, stores
from nkiport.contracts.steps import DeliverRequest, DeliverResult
from nkiport.jobs.deliver import deliver


def build(env: Mapping[str, str]) -> Callable[[DeliverRequest], DeliverResult]:
    """Wire the stores and GitHub."""
    settings = Delivering.from_env(env)
    return partial(deliver, **stores(settings), forge=forge(settings))


handler = step(DeliverRequest, build)
