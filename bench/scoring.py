"""Rates with their uncertainty: pure functions of results."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from math import sqrt
from pathlib import Path
from statistics import median

from pydantic import BaseModel, ConfigDict

from bench.results import TaskResult

Z95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""


class Rate(BaseModel):
    """A share of tasks with its 95 % Wilson interval."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    passed: int
    total: int
    share: float | None
    low: float
    high: float


class Typical(BaseModel):
    """The median share of the roofline over the correct tasks that the same thing binds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tasks: int
    share: float | None


class Summary(BaseModel):
    """What a run adds up to. Failures of the infrastructure count for no rate, and are shown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    compiled: Rate
    correct: Rate
    fast: Rate
    """At or above the stated share of the roofline, by measurement or estimate."""
    fast_share: float
    memory_bound: Typical
    """Where the roofline is the traffic of inputs and outputs."""
    compute_bound: Typical
    """Where it is the arithmetic of matmuls, convolutions and attention."""
    not_judged: int
    weight_free: Rate
    """Correct, of the tasks without hidden weights: the part of the suite on which a published
    agent's own count can be compared."""
    failures: dict[str, int]
    """How many tasks ended at each stage."""
    causes: dict[str, int]
    """How many tasks ended for the same reason, the most frequent first."""
    seconds: float
    tokens: int
    usd: float


def cause_of(result: TaskResult) -> str:
    """Why a task failed, without what is of this task alone.

    >>> cause_of(TaskResult(task="a", outcome="abandoned", backend="recipes",
    ...     reason="UnsupportedGraph: no lowering rule for aten.sort.default (sort, m.py:3)"))
    'no rule for aten.sort.default'
    """
    ruleless = re.search(r"no lowering rule for ([\w.]+)", result.reason)
    if ruleless:
        return f"no rule for {ruleless.group(1)}"
    code = re.search(r"\b((?:err|numbers|policy|plausibility)_\w+)", result.reason)
    if code:
        return code.group(1)
    first = re.sub(r"[0-9]+(\.[0-9]+)?", "N", result.reason.split(";")[0])
    return first[:100] or result.failed_stage or result.outcome


@cache
def weight_free() -> tuple[str, ...]:
    """How the names of the tasks without hidden weights begin."""
    text = Path(__file__).with_name("weight_free.txt").read_text()
    return tuple(f"{name}_" for name in text.split())


def wilson(passed: int, total: int, z: float = Z95) -> Rate:
    """The score interval of E. B. Wilson (1927), doi:10.1080/01621459.1927.10502953.

    >>> rate = wilson(8, 10)
    >>> (round(rate.low, 3), round(rate.high, 3))
    (0.49, 0.943)
    """
    if not 0 <= passed <= total:
        raise ValueError(f"{passed} of {total} is no share; 0 <= passed <= total")
    if total == 0:
        return Rate(passed=0, total=0, share=None, low=0.0, high=1.0)
    share = passed / total
    scale = 1 + z * z / total
    middle = (share + z * z / (2 * total)) / scale
    half = z / scale * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return Rate(passed=passed, total=total, share=share, low=low, high=high)


def summarise(results: Iterable[TaskResult], *, fast_share: float = 0.5) -> Summary:
    """Add up a run; ``fast_share`` is the share of the roofline that counts as fast."""
    every = list(results)
    judged = [result for result in every if result.outcome != "not_judged"]
    free = [r for r in judged if r.task.startswith(weight_free())]
    fast = [r for r in judged if r.correct and (r.roofline_share or 0.0) >= fast_share]
    return Summary(
        compiled=wilson(sum(r.compiled for r in judged), len(judged)),
        correct=wilson(sum(r.correct for r in judged), len(judged)),
        fast=wilson(len(fast), len(judged)),
        fast_share=fast_share,
        memory_bound=_typical(judged, memory=True),
        compute_bound=_typical(judged, memory=False),
        not_judged=len(every) - len(judged),
        weight_free=wilson(sum(r.correct for r in free), len(free)),
        causes=dict(Counter(cause_of(r) for r in every if not r.correct).most_common()),
        failures=dict(sorted(Counter(r.failed_stage for r in judged if r.failed_stage).items())),
        seconds=sum(r.seconds for r in every),
        tokens=sum(r.tokens for r in every),
        usd=sum(r.usd for r in every),
    )


def _typical(judged: Iterable[TaskResult], *, memory: bool) -> Typical:
    shares = [
        result.roofline_share
        for result in judged
        if result.correct and result.memory_bound is memory and result.roofline_share is not None
    ]
    return Typical(tasks=len(shares), share=median(shares) if shares else None)


WASTE, IDLE = 1.5, 0.6
"""Traffic beyond the reference's, and the busiest engine's share of the time, worth a word."""


def why_slow(result: TaskResult) -> str:
    """What keeps a kernel from the roofline, of what the cost model says.

    >>> why_slow(TaskResult(task="a", outcome="accepted", backend="recipes", bound_by="vector",
    ...     busy=0.8, memory_bound=True, traffic_ratio=3.0))
    'vector binds, busy 80 %; 3.0 times the traffic of inputs and outputs'
    """
    if result.busy is None:
        return ""
    waits = "; the rest is waiting: transfers that start, engines that wait for each other"
    said = f"{result.bound_by} binds, busy {100 * result.busy:.0f} %"
    said += waits if result.busy < IDLE else ""
    ratio = result.traffic_ratio or 0.0
    return said + (
        f"; {ratio:.1f} times the traffic of inputs and outputs" if ratio > WASTE else ""
    )
