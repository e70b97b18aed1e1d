"""When each instruction of a run would start and end: a list schedule by the cost model."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from nkiport.nki import OPS, Target
from nkiport.nki.targets import Engine
from nkiport.simulator.spills import with_spills
from nkiport.simulator.trace import Instruction, Trace

ACCESSING: frozenset[Engine] = frozenset({"vector", "scalar", "gpsimd"})
"""Engines that wait for the first element of each access; multiplies overlap their accesses."""
LOOK_BACK = 100
"""Among so many of its last reservations an engine looks for a gap; it bounds the search."""


class Booking(NamedTuple):
    """An engine's time for an instruction, in microseconds from the start of the run."""

    instruction: Instruction
    engine: str
    start: float
    end: float


class Timeline:
    """When an engine is free; work goes into the first gap of late that is long enough."""

    def __init__(self) -> None:
        self._starts: list[float] = []
        self._ends: list[float] = []

    def book(self, ready: float, time: float) -> float:
        """Reserve ``time`` from ``ready`` on, and return when it ends."""
        place = max(bisect_right(self._ends, ready), len(self._ends) - LOOK_BACK)
        start = max(ready, self._ends[place - 1]) if place else ready
        while place < len(self._starts) and self._starts[place] < start + time:
            start = max(start, self._ends[place])
            place += 1
        self._insert(place, start, start + time)
        return start + time

    def _insert(self, place: int, start: float, end: float) -> None:
        """Keep the reservation; what touches becomes one."""
        if place and self._ends[place - 1] >= start:
            place -= 1
            self._ends[place] = end
        else:
            self._starts.insert(place, start)
            self._ends.insert(place, end)
        if place + 1 < len(self._starts) and self._starts[place + 1] <= end:
            self._ends[place] = self._ends.pop(place + 1)
            del self._starts[place + 1]


def scheduled(trace: Trace, chip: Target) -> Iterator[Booking]:
    """Book each instruction, and the traffic of what does not fit into SBUF.

    An engine does one thing at a time, data is waited for. One that would wait does later work
    first where that is ready, as the compiler's scheduler and the many DMA queues do. A rewritten
    tile is a new buffer (the compiler rotates them), so only true dependencies wait. Data of a DMA
    is there ``dma_startup_us`` after its end.
    """
    lines: dict[str, Timeline] = defaultdict(Timeline)
    ready: dict[int, float] = defaultdict(float)
    for each in with_spills(trace, chip):
        at = max([ready[number] for number in each.reads], default=0.0)
        for engine, time in _times(each, chip):
            at = lines[engine].book(at, time)
            yield Booking(each, engine, at - time, at)
        at += chip.dma_startup_us if each.kind == "dma" else 0.0
        for number in each.writes:
            ready[number] = at


def _times(each: Instruction, chip: Target) -> list[tuple[str, float]]:
    """Microseconds on each engine that an instruction keeps busy."""
    op = OPS[each.op]
    parts = [(each.engine, op.cost), *op.also]
    return [
        (name, (cycles + (chip.access_cycles if name in ACCESSING else 0))
         / (1000 * chip.clocks.get(name, 1.0)))
        for name, cost in parts if (cycles := cost(each.work, chip))
    ]  # fmt: skip
