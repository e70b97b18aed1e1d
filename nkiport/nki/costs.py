"""Cycles of an instruction, on the engine it runs on.

The formulas are those of the ISA reference of SDK 2.26 (later editions dropped them). N is the
number of elements per partition; the number of partitions used does not change a cost.
"""

from nkiport.nki.dtypes import BFLOAT16, FLOAT16, FLOAT32
from nkiport.nki.op import Cost, Work
from nkiport.nki.targets import Target


def free(_work: Work, _target: Target) -> float:
    """Nothing: it only names memory."""
    return 0.0


def streamed(work: Work, target: Target) -> float:
    """One element a cycle and partition, and never less than the engine's minimum."""
    return max(target.min_cycles, work.free)


def streamed_and_read_back(work: Work, target: Target) -> float:
    """A stream, then the read-out of its accumulators."""
    return streamed(work, target) + target.min_cycles


def times(factor: float) -> Cost:
    """So many cycles for each element."""
    return lambda work, target: max(target.min_cycles, factor * work.free)


def two_inputs(work: Work, target: Target) -> float:
    """Two streams share one port, unless one is in PSUM or both are bf16 in SBUF."""
    quick = not work.all_sbuf or (
        work.dtype == BFLOAT16 and work.name in {"add", "subtract", "multiply"}
    )
    return max(target.min_cycles, work.free if quick or work.operands == 1 else 2 * work.free)


def reduced(work: Work, target: Target) -> float:
    """One element a cycle; bf16 sums and maxima go twice as fast."""
    quick = work.dtype == BFLOAT16 and work.name in {"add", "maximum"}
    return max(target.min_cycles, work.free / 2 if quick else work.free)


def filled(work: Work, target: Target) -> float:
    """A constant: 16-bit zeros go twice as fast, but the value is not known here."""
    return max(target.min_cycles, work.free / 2 if work.dtype in {BFLOAT16, FLOAT16} else work.free)


def general(work: Work, _target: Target) -> float:
    """GpSimd: a fixed start, then one element a cycle."""
    return 150.0 + work.free


def matmul(work: Work, _target: Target) -> float:
    """A multiply takes its moving columns, at least as long as loading the next weights."""
    cycles = max(min(64, work.other), work.free)
    return 4.0 * cycles if work.dtype == FLOAT32 else float(cycles)


def matmul_with_transpose(work: Work, target: Target) -> float:
    """A multiply whose left side is first turned on the tensor engine, if it has to be."""
    turn = matmul(Work(work.other, work.other, work.dtype), target)
    return matmul(work, target) + (turn if work.name == "turned" else 0.0)


def left_side_copied(work: Work, target: Target) -> float:
    """The left side of such a multiply comes out of PSUM before it goes in again."""
    return turned_copied(work, target) if work.name == "turned" else 0.0


def turned_copied(work: Work, target: Target) -> float:
    """What the tensor engine turned comes out of PSUM."""
    return max(target.min_cycles, work.other)


def turned(work: Work, _target: Target) -> float:
    """A transpose on the tensor engine, at fp32's rate where the data is fp32."""
    cycles = max(work.other, min(64, work.free))
    return 4.0 * cycles if work.dtype == FLOAT32 else float(cycles)


def moved(work: Work, target: Target) -> float:
    """Nanoseconds (a DMA queue has no clock of ours) at the sustained rate."""
    return work.bytes / target.dma_gb_s
