"""Read the job's source and walk it."""

from collections.abc import Callable, Mapping
from functools import partial

from lambdas._settings import Stores
from lambdas._step import step
from lambdas._wiring import stores
from nkiport.adapters.dulwich_git import DulwichGit
from nkiport.adapters.memory import SystemClock
from nkiport.contracts.steps import DiscoverRequest, DiscoverResult
from nkiport.jobs.discover import discover


def build(env: Mapping[str, str]) -> Callable[[DiscoverRequest], DiscoverResult]:
    """Wire the stores and git."""
    ports = stores(Stores.from_env(env))
    return partial(discover, **ports, git=DulwichGit(), clock=SystemClock())


handler = step(DiscoverRequest, build)
