"""Convolutions of few channels: several taps of one axis lie on the partitions beside each other.

128 partitions hold 128 // C taps of C channels, so that one product sums over as many of them. The
image is loaded once for each tap, shifted; rows of memory stay whole.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from nkiport.lowering.anchored import nest
from nkiport.lowering.ir import Op, Window, detail_of
from nkiport.lowering.kernel import Body, times
from nkiport.lowering.select import DTYPES
from nkiport.lowering.space import Axis


def stacked_axis(axes: Sequence[Axis]) -> Axis:
    """The axis whose taps are stacked: height, or width where the window is one row."""
    return axes[1] if axes[1].size > 1 else axes[2]


def write_stacked_weights(
    body: Body, op: Op, axes: Sequence[Axis], weight: str, row: str, stack: int, tiles: int
) -> None:
    """Turn the weights, so that taps and channels lie on the partitions together."""
    write, axis = body.writer, stacked_axis(axes)
    out, channels, _ = op.uses[1].shape
    own = out // detail_of(op, Window).groups
    groups = math.ceil(axis.size / stack)
    depth, height, width = (groups * stack if a is axis else a.size for a in axes)
    kind = DTYPES[body.program.dtype_of(op.uses[1].value)]
    write.comment(
        f"Weights are turned once: {stack} taps of {channels} channels on the partitions; zeros "
        "stand for taps there are not."
    )
    _weight_indices(body, axes, stack, channels)
    taps = math.prod(a.size for a in axes) * groups // axis.size
    write.line(f"turned = nl.zeros((Q, {tiles}, {taps}, P), dtype={kind})")
    place = f"(w_d * {axes[1].size} + w_h) * {axes[2].size} + w_w"
    block = f"for m in nl.affine_range({tiles}):" if tiles > 1 else ""
    with nest(write, block):
        write.line(f"strip = nl.zeros((P, C, {depth}, {height}, {width}), dtype={kind})")
        inner = body.row_mask.replace("row", row.replace("i_p", "w_p"), 1)
        write.call(
            "strip[w_p, w_c, w_d, w_h, w_w] = nl.load(",
            [f"{weight}[{row.replace('i_p', 'w_p')}, w_c, {place}]",
             f"mask={inner.replace('rows', str(own))}"],
        )  # fmt: skip
        with nest(write, *_loops(axes, axis, groups)):
            at = ["d", "h", "w"]
            tap = [f"t_{n}" if a.size > 1 else "0" for n, a in zip(at, axes, strict=True)]
            tap[axes.index(axis)] = f"t_{axis.name} * {stack} + s_t" if groups > 1 else "s_t"
            source = f"strip[s_p, s_c, {', '.join(tap)}]"
            m = "m" if tiles > 1 else "0"
            number = _number(axes, axis, groups)
            write.call(f"turned[i_q, {m}, {number}, i_k] = nl.copy(",
                       [f"nisa.nc_transpose({source})"])  # fmt: skip


def _weight_indices(body: Body, axes: Sequence[Axis], stack: int, channels: int) -> None:
    write = body.writer
    write.line(f"Q = {stack * channels}")
    write.line("i_q = nl.arange(Q)[:, None]")
    write.line("j_q = nl.arange(Q)[:, None, None, None]")
    names = [("p", "P"), ("c", "C"), *((a.name, str(a.size)) for a in axes)]
    for place, (name, size) in enumerate(names):
        index = ", ".join(":" if at == place else "None" for at in range(len(names)))
        write.line(f"w_{name} = nl.arange({size})[{index}]")
    for place, (name, size) in enumerate((("p", "P"), ("t", str(stack)), ("c", "C"))):
        index = ", ".join(":" if at == place else "None" for at in range(3))
        write.line(f"s_{name} = nl.arange({size})[{index}]")


def _loops(axes: Sequence[Axis], axis: Axis, groups: int) -> list[str]:
    """A loop for each axis of taps; the stacked one goes by groups."""
    counts = [groups if a is axis else a.size for a in axes]
    return [
        f"for t_{a.name} in nl.affine_range({count}):"
        for a, count in zip(axes, counts, strict=True)
        if count > 1
    ]


def _number(axes: Sequence[Axis], axis: Axis, groups: int) -> str:
    """The number of a group of taps."""
    terms, wide = [], 1
    for each in reversed(axes):
        count = groups if each is axis else each.size
        if count > 1:
            terms.append(times(f"t_{each.name}", wide))
        wide *= count
    return " + ".join(reversed(terms)) or "0"


def write_stacked_image(body: Body, op: Op, axes: Sequence[Axis], image: str, stack: int) -> None:
    """Load the image once for each stacked tap, moved by what the tap is away."""
    write, axis = body.writer, stacked_axis(axes)
    channels = op.uses[1].shape[1]
    groups = math.ceil(axis.size / stack)
    kind = DTYPES[body.program.dtype_of(op.uses[0].value)]
    sizes = ", ".join(str(a.part) for a in axes)
    write.comment("Zeros stand for the padding, and for taps there are not.")
    write.line(f"part = nl.zeros((Q, {groups}, {sizes}), dtype={kind})")
    first = f"{times('g', channels)} + " if detail_of(op, Window).groups > 1 else ""
    shift = f"v * {stack} + t" if groups > 1 else "t"
    moved = [_moved(a, shift) if a is axis else a for a in axes]
    masks = [mask for a in moved for mask in a.masks]
    masks += [f"({shift} < {axis.size})"] if groups * stack > axis.size else []
    inner = ", ".join(f"i_{a.name}" for a in axes)
    place = ", ".join(a.place for a in moved)
    at = "v" if groups > 1 else "0"
    heads = [f"for v in nl.affine_range({groups}):" if groups > 1 else ""]
    with nest(write, *heads, f"for t in nl.affine_range({stack}):"):
        mask = [f"mask={' & '.join(masks)}"] if masks else []
        write.call(
            f"part[t * C + j_c, {at}, {inner}] = nl.load(",
            [f"{image}[o0, {first}j_c, {place}]", *mask],
        )


def _moved(axis: Axis, shift: str) -> Axis:
    """The axis as one stacked tap sees it."""
    far = axis.dilation * (axis.size - 1)
    by = f"({shift}) * {axis.dilation}" if axis.dilation > 1 else shift
    return replace(axis, shift=by, far=far)


def write_stacked_sums(body: Body, axes: Sequence[Axis], stack: int, *, kept: bool) -> None:
    """One product for each group of taps."""
    write, axis = body.writer, stacked_axis(axes)
    groups = math.ceil(axis.size / stack)
    places = [times(f"o_{a.name}", a.stride) if a is axis else a.tap for a in axes]
    at = f"t_{axis.name}" if groups > 1 else "0"
    write.line("acc = nl.zeros((P, F), dtype=nl.float32, buffer=nl.psum)")
    with nest(write, *_loops(axes, axis, groups)):
        left = f"turned[i_q, {'m' if kept else '0'}, {_number(axes, axis, groups)}, i_k]"
        write.call(
            "acc[nl.arange(P)[:, None, None, None], spot] += nisa.nc_matmul(",
            [left, f"part[j_q, {at}, {', '.join(places)}]"],
        )
