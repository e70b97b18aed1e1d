"""How long a run would take on a target: an estimate of the cost model, never a measurement."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from nkiport.contracts.base import TargetName
from nkiport.nki import OPS, Target, target
from nkiport.nki.dtypes import FLOAT32
from nkiport.simulator.trace import Instruction, Trace

TYPICAL_SHARE = 0.77
SLOW_SHARE = 0.45
"""Schedule divided by measured time: the middle of the matmul-bound kernels published for trn1
(0.70 to 0.86), and the attention-like ones that queues and spills slow down (0.28 to 0.48)."""


class Timeline:
    """When an engine is free; work goes into the first gap that is long enough."""

    def __init__(self) -> None:
        self.busy = 0.0
        self._starts: list[float] = []
        self._ends: list[float] = []

    def book(self, ready: float, time: float) -> float:
        """Reserve ``time`` from ``ready`` on, and return when it ends."""
        self.busy += time
        place = bisect_right(self._ends, ready)
        start = ready
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


@dataclass(frozen=True)
class Estimate:
    """Microseconds, with the interval they are uncertain in, and what they come from."""

    p50_us: float
    low_us: float
    high_us: float
    floor_us: float
    """No schedule can be faster: traffic at the peak rate, or arithmetic at the peak rate."""
    bound_by: str
    """The engine that is busy longest, or ``dma``."""
    utilisation: Mapping[str, float]
    """The share of the estimated time that each engine is busy."""
    instructions: Mapping[str, int]
    """How many instructions of each class ran."""
    bytes_read: int
    bytes_written: int


def estimate(trace: Trace, *, target: TargetName = "trn1") -> Estimate:
    """Return the estimated latency of what a trace did, on one core of the target."""
    chip = _target(target)
    span, busy = _schedule(trace.instructions, chip)
    p50 = max(span / TYPICAL_SHARE, chip.dma_startup_us)
    bound = max(busy, key=lambda engine: busy[engine], default="")
    return Estimate(
        p50_us=p50,
        low_us=min(p50, max([*busy.values(), _floor(trace, chip)], default=0.0)),
        high_us=max(p50, span / SLOW_SHARE),
        floor_us=_floor(trace, chip),
        bound_by=bound,
        utilisation={engine: min(1.0, time / p50) for engine, time in sorted(busy.items())},
        instructions={**_classes(), **Counter(each.kind for each in trace.instructions)},
        bytes_read=trace.bytes_read,
        bytes_written=trace.bytes_written,
    )


_target = target


def _classes() -> dict[str, int]:
    return {"compute": 0, "matmul": 0, "dma": 0, "move": 0}


def _schedule(
    instructions: tuple[Instruction, ...], chip: Target
) -> tuple[float, dict[str, float]]:
    """List-schedule: each engine does one thing at a time, data is waited for.

    An engine that would wait does later work first where that is ready, as the compiler's
    scheduler and the many DMA queues do. A rewritten tile is a new buffer (the compiler rotates
    them), so only true dependencies wait.
    """
    lines: dict[str, Timeline] = defaultdict(Timeline)
    ready: dict[int, float] = defaultdict(float)
    end = 0.0
    for each in instructions:
        start = max([ready[number] for number in each.reads], default=0.0)
        for engine, time in _times(each, chip):
            start = lines[engine].book(start, time)
        done = start + (chip.dma_startup_us if each.kind == "dma" else 0.0)
        for number in each.writes:
            ready[number] = done
        end = max(end, done)
    return end, {engine: line.busy for engine, line in lines.items()}


def _times(each: Instruction, chip: Target) -> list[tuple[str, float]]:
    """Microseconds on each engine that an instruction keeps busy."""
    op = OPS[each.op]
    parts = [(each.engine, op.cost), *op.also]
    return [(name, cost(each.work, chip) / (1000 * chip.clocks.get(name, 1.0)))
            for name, cost in parts]  # fmt: skip


def _floor(trace: Trace, chip: Target) -> float:
    traffic = (trace.bytes_read + trace.bytes_written) / (1000 * chip.dma_peak_gb_s)
    wide = any(e.kind == "matmul" and e.work.dtype == FLOAT32 for e in trace.instructions)
    peak = chip.tflops_fp32 if wide else chip.tflops
    return max(traffic, trace.flops / (1e6 * peak))
