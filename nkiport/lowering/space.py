"""The axes of space of a convolution or pooling, and how a kernel writes positions on them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nkiport.lowering.kernel import PARTITIONS, Body, times
from nkiport.lowering.window_tiling import WindowPlan

AXES = ("d", "h", "w")
"""Depth, height, width."""


@dataclass(frozen=True)
class Axis:
    """One axis of space: sizes of the image, the result, a tile of it, and what that needs."""

    name: str
    image: int
    size: int
    stride: int
    low: int
    dilation: int
    out: int
    tile: int
    part: int
    shift: str = ""
    """By what a stacked tap is moved, as source."""
    far: int = 0
    """The most that is."""
    step: int = 1
    """From one position of the part to the next."""

    @property
    def tiles(self) -> int:
        """How many tiles the result has along the axis."""
        return math.ceil(self.out / self.tile)

    @property
    def last(self) -> int:
        """The last position that any tile reads, which may be beyond the image."""
        return (
            (self.tiles - 1) * self.tile * self.stride
            - self.low
            + (self.part - 1) * self.step
            + self.far
        )

    @property
    def place(self) -> str:
        """Where the part's positions lie in the image."""
        start = times(self.name, self.tile * self.stride) if self.tiles > 1 else ""
        own = times(f"i_{self.name}", self.step)
        moved = " + ".join(each for each in (start, own, self.shift) if each)
        return f"{moved} - {self.low}" if self.low else moved

    @property
    def masks(self) -> tuple[str, ...]:
        """What must hold for a position to be in the image."""
        low = (f"({self.place} >= 0)",) if self.low else ()
        return (*low, f"({self.place} < {self.image})") if self.last >= self.image else low

    @property
    def tap(self) -> str:
        """Where the values under one tap lie in the part."""
        moved = times(f"o_{self.name}", self.stride)
        if self.size == 1:
            return moved
        return f"{moved} + {times(f't_{self.name}', self.dilation)}"


def axes_of(plan: WindowPlan) -> tuple[Axis, ...]:
    """The three axes of space."""
    window = plan.window
    columns = (
        window.image, window.size, window.stride, window.low, window.dilation, window.out,
        plan.out, plan.image,
    )  # fmt: skip
    axes = tuple(Axis(name, *each) for name, *each in zip(AXES, *columns, strict=True))
    if not plan.sharing.shared:
        return axes
    depth, height, width = axes
    return depth, replace(height, step=height.stride), width


def write_indices(body: Body, axes: Sequence[Axis], rows: int) -> None:
    """Positions in a tile: flat for what follows, along the axes of space for the window."""
    write = body.writer
    tile = math.prod(axis.tile for axis in axes)
    write.line()
    write.comment(
        f"A tile has {rows} rows and {' x '.join(str(a.tile) for a in axes)} positions of the "
        f"result, which need {' x '.join(str(a.part) for a in axes)} of the image."
    )
    write.line("P = nl.tile_size.pmax" if rows == PARTITIONS else f"P = {rows}")
    write.line(f"F = {tile}")
    write.line("i_p = nl.arange(P)[:, None]")
    write.line("i_f = nl.arange(F)[None, :]")
    accesses = [*body.names, *(body.group.results[name] for name in body.group.stored)]
    if any(access.strides[-2] == 0 for access in accesses):
        write.line("i_p1 = nl.arange(1)[:, None]")
    if any(access.strides[-1] == 0 for access in accesses):
        write.line("i_f1 = nl.arange(1)[None, :]")
    for place, axis in enumerate(axes):
        index = ", ".join(":" if at == place + 1 else "None" for at in range(4))
        write.line(f"i_{axis.name} = nl.arange({axis.part})[{index}]")
        write.line(f"o_{axis.name} = nl.arange({axis.tile})[{index}]")
    write.line(f"spot = {_flat(axes)}")


def _flat(axes: Sequence[Axis]) -> str:
    """The column of a position in its tile."""
    depth, height, width = axes
    terms = []
    if depth.tile > 1:
        terms.append(times("o_d", height.tile * width.tile))
    if height.tile > 1:
        terms.append(times("o_h", width.tile))
    return " + ".join(["o_d" if not terms else "", *terms, "o_w"]).removeprefix(" + ")


def tile_loops(axes: Sequence[Axis]) -> list[str]:
    """A loop for each axis that has more than one tile."""
    return [f"for {a.name} in nl.affine_range({a.tiles}):" for a in axes if a.tiles > 1]


def tap_loops(axes: Sequence[Axis], loop: str) -> list[str]:
    """A loop for each axis of which the window has more than one position."""
    return [f"for t_{a.name} in nl.{loop}({a.size}):" for a in axes if a.size > 1]


def tap_number(axes: Sequence[Axis]) -> str:
    """The number of a tap."""
    terms, wide = [], 1
    for axis in reversed(axes):
        if axis.size > 1:
            terms.append(times(f"t_{axis.name}", wide))
        wide *= axis.size
    return " + ".join(reversed(terms)) or "0"


def write_column(body: Body, axes: Sequence[Axis]) -> None:
    """Where the tile's first position lies among all, and which of its columns exist."""
    depth, height, width = axes
    plane = height.out * width.out
    terms = [times("d", depth.tile * plane)] if depth.tiles > 1 else []
    terms += [times("h", height.tile * width.out)] if height.tiles > 1 else []
    terms += [times("w", width.tile)] if width.tiles > 1 else []
    body.writer.line(f"col = {' + '.join([*terms, 'i_f'])}")
    inner, end = "col", "cols"
    if width.tiles > 1:
        inner, end = f"{times('w', width.tile)} + i_f", str(width.out)
    elif height.tiles > 1:
        inner, end = f"{times('h', height.tile * width.out)} + i_f", str(plane)
    body.column_mask = f"{inner} < {end}"


def masks_of(axes: Sequence[Axis], rows: str = "") -> list[str]:
    """What must hold where an element of a part of the image exists; ``rows`` that its row does."""
    return [*([f"({rows})"] if rows else []), *(mask for axis in axes for mask in axis.masks)]


def load_image(
    body: Body, axes: Sequence[Axis], target: str, source: str, masks: Sequence[str]
) -> None:
    """Load a part of the image; where a mask leaves out, the tile keeps what it was filled with."""
    place = ", ".join(axis.place for axis in axes)
    inner = ", ".join(f"i_{axis.name}" for axis in axes)
    given = [f"mask={' & '.join(masks)}"] if masks else []
    body.writer.call(f"{target}, {inner}] = nl.load(", [f"{source}, {place}]", *given])
