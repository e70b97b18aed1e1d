"""How a convolution's taps, and rows of its result, share the partitions.

The tensor engine sums over 128 partitions and gives 128 results, whatever of them is used. Where
channels are few, taps lie beside each other on the side that is summed, and neighbouring rows of
the result on the other: one product then does what would be several.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from nkiport.lowering.fusion import Group
from nkiport.lowering.ir import Shape, Window, detail_of
from nkiport.nki import Target

ALIGNED = 32
"""Partitions that an instruction may start at are multiples of it."""
FP32_PASSES = 4
"""The tensor engine multiplies fp32 in so many passes (ISA reference, nc_matmul)."""
HALF_BYTES = 2


@dataclass(frozen=True)
class Sharing:
    """Taps along height and width that one product sums, and rows and groups of which it gives.

    The windows of rows overlap, so they read the same image under weights that are moved. Weights
    are zero where a row's window does not reach, and between groups; there an infinite value gives
    NaN, where PyTorch does not read it.
    """

    high: int = 1
    wide: int = 1
    rows: int = 1
    groups: int = 1

    @property
    def shared(self) -> bool:
        """Whether taps, rows or groups share the partitions."""
        return self != Sharing()

    def stacks(self, window: Window) -> Shape:
        """Products along depth, height and width; ``window`` is that of all rows together."""
        depth, height, width = window.size
        return depth, math.ceil(height / self.high), math.ceil(width / self.wide)


def side_by_side(window: Window, rows: int) -> Window:
    """The window of so many rows of the result together.

    >>> three = Window((1, 8, 8), (1, 3, 3), (1, 1, 1), (0, 1, 1), (1, 1, 1), (1, 8, 8))
    >>> (side_by_side(three, 2).size, side_by_side(three, 2).stride, side_by_side(three, 2).out)
    ((1, 4, 3), (1, 2, 1), (1, 4, 8))
    """
    (depth, height, width), (near, step, side) = window.size, window.stride
    out = (window.out[0], math.ceil(window.out[1] / rows), window.out[2])
    size = (depth, (rows - 1) * step + height, width)
    return replace(window, size=size, stride=(near, rows * step, side), out=out)


@dataclass(frozen=True)
class Sizes:
    """What of a convolution decides its sharing; channels and results are those of a group."""

    window: Window
    channels: int
    results: int
    item: int
    """Bytes of a value."""
    images: int = 1
    after: float = 1.0
    """Instructions that each engine has to do with a tile of results."""


def sizes_of(group: Group, item: int) -> Sizes:
    """The sizes of a group on a convolution whose values take so many bytes.

    Of the operations after it, the vector and the scalar engine do half each.
    """
    op = group.base
    assert op is not None  # noqa: S101 - the caller chose by it
    window = detail_of(op, Window)
    wide = sum(group.results[each.name].strides[-1] != 0 for each in group.ops) - 1
    own = op.shape[1] // window.groups
    return Sizes(window, op.uses[1].shape[1], own, item, op.shape[0], max(1.0, wide / 2))


def sharing(sizes: Sizes, target: Target, *, between: bool) -> Sharing:
    """The sharing whose products and traffic take the least time.

    ``between`` says whether the results may be stored row by row. Traffic counts, as each tap of a
    stack has its own copy of the image.
    """
    every = list(_sharings(sizes, target.partitions, between=between))
    return min(every, key=lambda each: _time(each, sizes, target), default=Sharing())


def slot_of(channels: int) -> int:
    """Partitions that the channels of one row take, so that the next starts where it may."""
    return math.ceil(channels / ALIGNED) * ALIGNED


def _sharings(sizes: Sizes, partitions: int, *, between: bool) -> Iterator[Sharing]:
    """Every sharing that fits the partitions; none where channels alone do not."""
    window = sizes.window
    for groups in _merged(sizes, partitions):
        taps = partitions // (groups * sizes.channels)
        most_rows = partitions // slot_of(groups * sizes.results) if between else 1
        for rows in range(1, _overlapping(window, most_rows) + 1):
            for high in range(1, min(taps, side_by_side(window, rows).size[1]) + 1):
                for wide in range(1, min(taps // high, window.size[2]) + 1):
                    yield Sharing(high, wide, rows, groups)


def _merged(sizes: Sizes, partitions: int) -> list[int]:
    """How many groups may share the partitions."""
    most = partitions // sizes.channels
    if sizes.window.groups > 1:
        most = min(most, max(1, partitions // sizes.results))
    return [n for n in range(1, most + 1) if sizes.window.groups % n == 0]


def _overlapping(window: Window, most: int) -> int:
    """How many rows may lie beside each other; one where their windows do not overlap."""
    overlap = window.dilation[1] == 1 and window.size[1] > window.stride[1]
    return max(1, min(most, window.out[1])) if overlap else 1


def _time(each: Sharing, sizes: Sizes, target: Target) -> tuple[float, float]:
    """Nanoseconds of a convolution, and of its traffic alone.

    Of each tile counts what takes longest: products, the instructions after them, or traffic; the
    weights are turned before.
    """
    window = side_by_side(sizes.window, each.rows)
    out = positions(window, target.moving_fmax)
    columns = max(target.min_cycles, math.prod(out))
    passes = 1 if sizes.item == HALF_BYTES else FP32_PASSES
    tiles = math.ceil(each.groups * sizes.results / target.partitions)
    stacks = math.prod(each.stacks(window))
    product = passes * columns / target.clocks["tensor"]
    after = (target.access_cycles + columns) / target.clocks["scalar"]
    turn = (target.access_cycles + target.partitions) / target.clocks["scalar"]
    traffic = _values(each, sizes, window) * math.prod(out) * sizes.item / target.dma_gb_s
    tile = max(tiles * stacks * product, tiles * each.rows * sizes.after * after, traffic)
    walked = sizes.images * math.prod(
        math.ceil(size / own) for size, own in zip(window.out, out, strict=True)
    )
    blocks = window.groups // each.groups
    return blocks * (walked * tile + tiles * each.rows * stacks * turn), blocks * walked * traffic


def _values(each: Sharing, sizes: Sizes, window: Window) -> int:
    """Values that are loaded and stored for a position in a block, under the window of all rows."""
    depth, height, width = window.stride
    loads = each.high * each.stacks(window)[1] * each.wide if each.shared else height
    return each.groups * (sizes.channels * loads * depth * width + sizes.results * each.rows)


def positions(window: Window, most: int) -> Shape:
    """Depth, height and width of a tile of at most so many positions, contiguous in the result.

    A row that is too long is cut in equal parts; else whole rows are taken, and whole planes.
    """
    depth, height, width = window.out
    if width > most:
        return 1, 1, math.ceil(width / math.ceil(width / most))
    rows = most // width
    if rows < height:
        return 1, math.ceil(height / math.ceil(height / rows)), width
    planes = min(depth, most // (height * width))
    return math.ceil(depth / math.ceil(depth / planes)), height, width
