"""Tiles of groups on a convolution or pooling."""

import math
from dataclasses import dataclass, field

from nkiport.lowering.fusion import Group
from nkiport.lowering.ir import Op, Program, Shape, Window, detail_of, item_bytes
from nkiport.lowering.sharing import Sharing, positions, sharing, side_by_side, sizes_of
from nkiport.lowering.tuning import Tuning
from nkiport.nki import Target


@dataclass(frozen=True)
class WindowPlan:
    """Tiles of a group on a convolution or pooling.

    ``out`` is how much depth, height and width of the result a tile has, ``image`` how much of the
    image that needs; of both, as many rows as ``sharing`` has beside each other count as one.
    ``kept`` says that the weights of all output channels stay in SBUF.
    """

    group: Group
    out: Shape
    image: Shape
    kept: bool = True
    sharing: Sharing = field(default_factory=Sharing)

    @property
    def window(self) -> Window:
        """How the window moves from one result to the next, or from some rows to the next."""
        assert self.group.base is not None  # noqa: S101 - the plan is a window's
        return side_by_side(detail_of(self.group.base, Window), self.sharing.rows)


def window_plan(program: Program, group: Group, target: Target, tuning: Tuning) -> WindowPlan:
    """The largest tile of positions whose part of the image fits beside all else."""
    op = group.base
    assert op is not None  # noqa: S101 - the caller chose by it
    conv = op.kind == "conv"
    item = item_bytes(program.dtype_of(op.uses[0].value))
    chosen = Sharing()
    if conv and tuning.stacked:
        chosen = sharing(sizes_of(group, item), target, between=not _shares_rows(group))
    window = side_by_side(detail_of(op, Window), chosen.rows)
    kept = conv and _weight_bytes(op, chosen, window, target, item) <= target.sbuf_bytes // 4
    parts = math.ceil(op.uses[1].shape[1] / target.partitions) if conv else 1
    copies = chosen.stacks(window)[1] if chosen.shared else 1
    most = min(target.psum_fmax, tuning.positions)
    while most > 1:
        out = positions(window, most)
        image = needed(window, out, chosen)
        if parts * copies * math.prod(image) * item <= target.sbuf_bytes // 8:
            break
        most //= 2
    return WindowPlan(group, out, image, kept, chosen)


def _shares_rows(group: Group) -> bool:
    """Whether an operand is the same for all channels."""
    return any(access.strides[-2] == 0 for access in group.reads.values())


def _weight_bytes(op: Op, chosen: Sharing, window: Window, target: Target, item: int) -> int:
    """What a convolution's weights take in each partition, turned and in whole tiles.

    ``window`` is that of all rows together.
    """
    out, channels, *_ = op.uses[1].shape
    tiles = math.ceil(out // window.groups * chosen.groups / target.partitions)
    parts = math.ceil(channels / target.partitions)
    products = math.prod(chosen.stacks(window))
    return tiles * parts * products * target.partitions * item


def needed(window: Window, out: Shape, chosen: Sharing) -> Shape:
    """How much of the image, padding included, a tile of results reads.

    Of stacked taps each has a copy of what it reads: just its rows, and columns as far as the last
    stack reaches.
    """
    whole = tuple(
        (size - 1) * step + (reach - 1) * spread + 1
        for size, step, reach, spread in zip(
            out, window.stride, window.size, window.dilation, strict=True
        )
    )
    if not chosen.shared:
        return whole
    last = (chosen.stacks(window)[2] - 1) * chosen.wide * window.dilation[2]
    return whole[0], out[1], (out[2] - 1) * window.stride[2] + last + 1
