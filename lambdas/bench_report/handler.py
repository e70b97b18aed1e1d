"""Approve the benchmark's gates, and report when its job has ended."""

import secrets
from collections.abc import Callable, Mapping
from functools import partial

from lambdas._execution import tokens
from lambdas._settings import Stores
from lambdas._step import step
from lambdas._wiring import stores
from nkiport.adapters.memory import SystemClock
from nkiport.contracts.steps import BenchReportRequest, BenchReportResult
from nkiport.jobs.bench import report_benchmark
from nkiport.jobs.gates import answer_gate


def build(env: Mapping[str, str]) -> Callable[[BenchReportRequest], BenchReportResult]:
    """Wire the stores and the gates."""
    ports = stores(Stores.from_env(env))
    answer = partial(
        answer_gate,
        **ports,
        tokens=tokens(),
        clock=SystemClock(),
        entropy=secrets.SystemRandom(),
    )
    return partial(report_benchmark, **ports, answer=answer)


handler = step(BenchReportRequest, build)
