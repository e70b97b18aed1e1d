"""How long a run would take on a target: an estimate of the cost model, never a measurement."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from nkiport.contracts.base import TargetName
from nkiport.nki import Target, target
from nkiport.nki.dtypes import FLOAT32
from nkiport.simulator.schedule import scheduled
from nkiport.simulator.trace import Trace

TYPICAL_SHARE = 0.77
SLOW_SHARE = 0.45
"""Schedule divided by measured time: the middle of the matmul-bound kernels published for trn1
(0.70 to 0.86), and the attention-like ones that queues and spills slow down (0.28 to 0.48)."""


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
    span, busy = 0.0, defaultdict[str, float](float)
    for each in scheduled(trace, chip):
        tail = chip.dma_startup_us if each.engine == "dma" else 0.0
        span = max(span, each.end + tail)
        busy[each.engine] += each.end - each.start
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


def _floor(trace: Trace, chip: Target) -> float:
    traffic = (trace.bytes_read + trace.bytes_written) / (1000 * chip.dma_peak_gb_s)
    wide = any(e.kind == "matmul" and e.work.dtype == FLOAT32 for e in trace.instructions)
    peak = chip.tflops_fp32 if wide else chip.tflops
    return max(traffic, trace.flops / (1e6 * peak))
