"""Say what capture found out about a kernel."""

from collections.abc import Callable, Mapping
from functools import partial

from lambdas._settings import Stores
from lambdas._step import step
from lambdas._wiring import stores
from nkiport.contracts.steps import AssessRequest, AssessResult
from nkiport.jobs.assess import assess


def build(env: Mapping[str, str]) -> Callable[[AssessRequest], AssessResult]:
    """Wire the stores."""
    return partial(assess, **stores(Stores.from_env(env)))


handler = step(AssessRequest, build)
