"""How a convolution's taps, and rows of its result, share the partitions.

The tensor engine sums over 128 partitions and gives 128 results, whatever of them is used. Where
channels are few, taps lie beside each other on the side that is summed, and neighbouring rows of
the result on the other: one product then does what would be several.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from nkiport.lowering.ir import Op, Shape, Window, detail_of
from nkiport.nki import Target

ALIGNED = 32
"""Partitions that an instruction may start at are multiples of it."""
FP32_PASSES = 4
"""The tensor engine multiplies fp32 in so many passes (ISA reference, nc_matmul)."""
HALF_BYTES = 2


@dataclass(frozen=True)
class Layout:
    """Taps along height and width that are summed by one product, and rows that it gives.

    The rows' windows overlap, so they read the same image rows under weights that are moved; where
    a row's window does not reach, its weight is zero.
    """

    high: int = 1
    wide: int = 1
    rows: int = 1

    @property
    def shared(self) -> bool:
        """Whether taps or rows share the partitions."""
        return self != Layout()

    def stacks(self, window: Window) -> Shape:
        """Products along depth, height and width; ``window`` is that of all rows together."""
        depth, height, width = window.size
        return depth, math.ceil(height / self.high), math.ceil(width / self.wide)


def beside(window: Window, rows: int) -> Window:
    """The window of so many rows of the result together.

    >>> three = Window((1, 8, 8), (1, 3, 3), (1, 1, 1), (0, 1, 1), (1, 1, 1), (1, 8, 8))
    >>> (beside(three, 2).size, beside(three, 2).stride, beside(three, 2).out)
    ((1, 4, 3), (1, 2, 1), (1, 4, 8))
    """
    (depth, height, width), (near, step, side) = window.size, window.stride
    out = (window.out[0], math.ceil(window.out[1] / rows), window.out[2])
    size = (depth, (rows - 1) * step + height, width)
    return replace(window, size=size, stride=(near, rows * step, side), out=out)


def layout(op: Op, target: Target, item: int, *, between: bool) -> Layout:
    """The layout whose products and traffic take the least time for a position of the result.

    ``item`` is the bytes of a value; ``between`` says whether the results may be stored row by row.
    Traffic counts, as each tap of a stack has its own copy of the image.
    """
    window, channels = detail_of(op, Window), op.uses[1].shape[1]
    if channels > target.partitions:
        return Layout()
    rows = _most_rows(op, window, target) if between else 1
    every = _layouts(window, target.partitions // channels, rows)
    return min(every, key=lambda each: _time(each, op, target, item))


def _most_rows(op: Op, window: Window, target: Target) -> int:
    """How many rows of the result fit; one where the window's rows do not overlap."""
    slot = slot_of(op.shape[1] // window.groups)
    overlap = window.dilation[1] == 1 and window.size[1] > window.stride[1]
    return max(1, min(target.partitions // slot, window.out[1])) if overlap else 1


def slot_of(channels: int) -> int:
    """Partitions that the channels of one row take, so that the next starts where it may."""
    return math.ceil(channels / ALIGNED) * ALIGNED


def _layouts(window: Window, taps: int, most_rows: int) -> Iterator[Layout]:
    for rows in range(1, most_rows + 1):
        for high in range(1, min(taps, beside(window, rows).size[1]) + 1):
            for wide in range(1, min(taps // high, window.size[2]) + 1):
                yield Layout(high, wide, rows)


def _time(each: Layout, op: Op, target: Target, item: int) -> tuple[float, float]:
    """Nanoseconds for a position of the result, and those of its traffic alone."""
    window, channels = beside(detail_of(op, Window), each.rows), op.uses[1].shape[1]
    own = op.shape[1] // window.groups
    stacks = each.stacks(window)
    passes = 1 if item == HALF_BYTES else FP32_PASSES
    tiles = math.ceil(own / target.partitions)
    products = tiles * math.prod(stacks) * passes / target.clocks["tensor"]
    loads = each.high * stacks[1] * each.wide if each.shared else window.stride[1]
    image = channels * loads * window.stride[2] * window.stride[0]
    traffic = (image + own * each.rows) * item / target.dma_gb_s
    return max(products, traffic) / each.rows, traffic / each.rows
