"""How long a run would take on a target: an estimate of the cost model, never a measurement."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from nkiport.contracts.base import TargetName
from nkiport.nki import Target, target
from nkiport.nki.dtypes import FLOAT32
from nkiport.simulator.schedule import scheduled
from nkiport.simulator.trace import Trace

TYPICAL_SHARE = 0.833
"""Schedule divided by measured time, in the middle of the fourteen kernels published with their
profiles on trn1: queues and semaphores take the rest. ``bench.calibration`` finds it."""
INTERVAL = (0.75, 1.32)
"""Measured divided by estimated time, the least and the most of those kernels, each estimated
without itself. For other targets nothing was measured: there it is a guess."""


@dataclass(frozen=True)
class Spent:
    """What a schedule takes, in microseconds and bytes."""

    span_us: float
    """From its start until the last data has arrived."""
    busy_us: Mapping[str, float]
    """On each engine."""
    bytes_spilled: int
    """What moves because it does not fit into SBUF, there and back."""


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


def spent(trace: Trace, chip: Target) -> Spent:
    """Schedule a trace, and add up."""
    span, busy, moved = 0.0, defaultdict[str, float](float), 0
    for each in scheduled(trace, chip):
        tail = chip.dma_startup_us if each.engine == "dma" else 0.0
        span = max(span, each.end + tail)
        busy[each.engine] += each.end - each.start
        moved += each.instruction.work.bytes if each.engine == "dma" else 0
    own = sum(each.work.bytes for each in trace.instructions if each.engine == "dma")
    return Spent(span, busy, moved - own)


def estimate(trace: Trace, *, target: TargetName = "trn1") -> Estimate:
    """Return the estimated latency of what a trace did, on one core of the target."""
    chip = _target(target)
    done, floor = spent(trace, chip), _floor(trace, chip)
    p50 = max(done.span_us / TYPICAL_SHARE, chip.dma_startup_us)
    low, high = INTERVAL
    return Estimate(
        p50_us=p50,
        low_us=min(p50, max(floor, p50 * low)),
        high_us=p50 * high,
        floor_us=floor,
        bound_by=max(done.busy_us, key=lambda engine: done.busy_us[engine], default=""),
        utilisation={name: min(1.0, time / p50) for name, time in sorted(done.busy_us.items())},
        instructions={**_classes(), **Counter(each.kind for each in trace.instructions)},
        bytes_read=trace.bytes_read,
        bytes_written=trace.bytes_written,
    )


_target = target


def _classes() -> dict[str, int]:
    return {"compute": 0, "matmul": 0, "dma": 0, "move": 0}


def _floor(trace: Trace, chip: Target) -> float:
    traffic = (trace.bytes_read + trace.bytes_written) / (1000 * chip.dma_peak_gb_s)
    wide = any(e.kind == "matmul" and e.work.dtype == FLOAT32 for e in trace.instructions)
    peak = chip.tflops_fp32 if wide else chip.tflops
    return max(traffic, trace.flops / (1e6 * peak))
