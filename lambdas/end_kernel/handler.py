"""Record how a kernel ended without a verdict."""

from collections.abc import Callable, Mapping
from functools import partial

from lambdas._settings import Stores
from lambdas._step import step
from lambdas._wiring import stores
from nkiport.adapters.memory import SystemClock
from nkiport.contracts.steps import EndKernelRequest, KernelResult
from nkiport.jobs.end_kernel import end_kernel


def build(env: Mapping[str, str]) -> Callable[[EndKernelRequest], KernelResult]:
    """Wire the stores."""
    return partial(end_kernel, **stores(Stores.from_env(env)), clock=SystemClock())


handler = step(EndKernelRequest, build)
