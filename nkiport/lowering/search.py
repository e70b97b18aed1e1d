"""Chooses a graph's tilings by the cost model: a bounded search that ends alike each time."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np

from nkiport.contracts.base import TargetName
from nkiport.contracts.errors import UnsupportedGraph
from nkiport.contracts.graph import Graph
from nkiport.contracts.tensors import InputSpec
from nkiport.lowering import lower
from nkiport.lowering.tuning import CHOICES, Tuning
from nkiport.nki.dtypes import Array, is_float
from nkiport.sandbox.buffers import device_dtype_of
from nkiport.simulator import Options, estimate, simulate

MOST_INSTRUCTIONS = 100_000
"""Of all runs of a search together: a few minutes of two cores. Work is bounded, not time, so that
the choice does not depend on the machine."""
MOST_BYTES = 2**30
"""Alive at one time in a run."""


@dataclass
class Search:
    """One search: what was tried, and what instructions are left for other tries."""

    graph: Graph
    target: TargetName
    name: str
    left: int
    seen: set[str] = field(default_factory=set)

    def latency(self, source: str) -> float:
        """The estimate in microseconds; endless for what was seen, ends in a finding or is long."""
        if source in self.seen or self.left <= 0:
            return inf
        self.seen.add(source)
        given = {spec.name: _filled(spec) for spec in self.graph.inputs}
        options = Options(max_instructions=self.left, max_bytes=MOST_BYTES)
        done = simulate(source, given, target=self.target, options=options)
        self.left -= len(done.trace.instructions)
        return inf if done.findings else estimate(done.trace, target=self.target).p50_us

    def lowered(self, tuning: Tuning) -> str | None:
        """The source, or None where the tuning does not suit the graph."""
        try:
            return lower(self.graph, target=self.target, name=self.name, tuning=tuning)
        except UnsupportedGraph:
            return None


def searched(
    graph: Graph,
    *,
    target: TargetName = "trn1",
    name: str = "kernel",
    most_instructions: int = MOST_INSTRUCTIONS,
) -> str:
    """The candidate's source whose estimated latency is the least of the tunings tried.

    One field after the other is varied around the best so far; of equals the earlier stays. The
    plain lowering is the first, and stays where it cannot be run within the bounds. Raises
    ``UnsupportedGraph`` as ``lower`` does.
    """
    search = Search(graph, target, name, most_instructions)
    chosen = Tuning()
    source = lower(graph, target=target, name=name)
    least = search.latency(source)
    if least == inf:
        return source
    for change in changes():
        tuning = replace(chosen, **change)
        other = search.lowered(tuning)
        latency = search.latency(other) if other else inf
        if other and latency < least:
            chosen, source, least = tuning, other, latency
    return source


def changes() -> Iterator[dict[str, Any]]:
    """What is varied, one after the other."""
    return ({name: value} for name, values in CHOICES.items() for value in values)


def _filled(spec: InputSpec) -> Array:
    """Ones, which every operation takes; zeros for integers, which are places in any table."""
    dtype = device_dtype_of(spec.dtype)
    return np.full(spec.shape, 1 if is_float(dtype) else 0, dtype)
