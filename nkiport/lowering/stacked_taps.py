"""Convolutions of few channels: several taps of one axis lie on the partitions beside each other.

128 partitions hold 128 // C taps of C channels, so that one product sums over as many of them. The
image is loaded once for each tap, shifted; rows of memory stay whole.
"""

import math
from collections.abc import Iterable
from dataclasses import replace

from nkiport.lowering.anchored import nest
from nkiport.lowering.conv import Conv
from nkiport.lowering.kernel import times
from nkiport.lowering.space import Axis
from nkiport.lowering.writer import Writer


def write_weights(conv: Conv) -> None:
    """Turn the weights, so that taps and channels lie on the partitions together."""
    write, stack, axis = conv.body.writer, conv.plan.stack, _stacked(conv)
    depth, height, width = (_groups(conv) * stack if a is axis else a.size for a in conv.axes)
    write.comment(
        f"Weights are turned once: {stack} taps of {conv.channels} channels on the partitions; "
        "zeros stand for taps there are not."
    )
    _weight_indices(conv)
    taps = math.prod(_counts(conv))
    write.line(f"turned = nl.zeros((Q, {conv.held}, {taps}, P), dtype={conv.dtype(1)})")
    place = f"(w_d * {conv.axes[1].size} + w_h) * {conv.axes[2].size} + w_w"
    with nest(write, conv.held_block):
        write.line(f"strip = nl.zeros((P, C, {depth}, {height}, {width}), dtype={conv.dtype(1)})")
        write.call(
            "strip[w_p, w_c, w_d, w_h, w_w] = nl.load(",
            [f"{conv.weight}[{conv.row('w_p')}, w_c, {place}]", f"mask={conv.row_mask('w_p')}"],
        )
        with nest(write, *_loops(conv)):
            write.call(
                f"turned[i_q, {conv.held_tile}, {_number(conv)}, i_k] = nl.copy(",
                [f"nisa.nc_transpose(strip[s_p, s_c, {_taps_of_group(conv)}])"],
            )


def write_image(conv: Conv) -> None:
    """Load the image once for each stacked tap, moved by what the tap is away."""
    write, stack, axis, groups = conv.body.writer, conv.plan.stack, _stacked(conv), _groups(conv)
    sizes = ", ".join(str(a.part) for a in conv.axes)
    write.comment("Zeros stand for the padding, and for taps there are not.")
    write.line(f"part = nl.zeros((Q, {groups}, {sizes}), dtype={conv.dtype(0)})")
    shift = f"v * {stack} + t" if groups > 1 else "t"
    moved = [_moved(a, shift) if a is axis else a for a in conv.axes]
    masks = [mask for a in moved for mask in a.masks]
    masks += [f"({shift} < {axis.size})"] if groups * stack > axis.size else []
    inner = ", ".join(f"i_{a.name}" for a in conv.axes)
    place = ", ".join(a.place for a in moved)
    group = f"for v in nl.affine_range({groups}):" if groups > 1 else ""
    with nest(write, group, f"for t in nl.affine_range({stack}):"):
        write.call(
            f"part[t * C + j_c, {'v' if groups > 1 else '0'}, {inner}] = nl.load(",
            [f"{conv.image}[o0, {conv.first}j_c, {place}]",
             *([f"mask={' & '.join(masks)}"] if masks else [])],
        )  # fmt: skip


def write_sums(conv: Conv) -> None:
    """One product for each group of taps."""
    write, axis = conv.body.writer, _stacked(conv)
    places = [times(f"o_{a.name}", a.stride) if a is axis else a.tap for a in conv.axes]
    at = f"t_{axis.name}" if _groups(conv) > 1 else "0"
    with nest(write, *_loops(conv)):
        write.call(
            "acc[nl.arange(P)[:, None, None, None], spot] += nisa.nc_matmul(",
            [
                f"turned[i_q, {conv.held_tile}, {_number(conv)}, i_k]",
                f"part[j_q, {at}, {', '.join(places)}]",
            ],
        )


def _stacked(conv: Conv) -> Axis:
    """The axis whose taps are stacked: height, or width where the window is one row."""
    return conv.axes[1] if conv.axes[1].size > 1 else conv.axes[2]


def _groups(conv: Conv) -> int:
    """How many stacks its taps make."""
    return math.ceil(_stacked(conv).size / conv.plan.stack)


def _counts(conv: Conv) -> list[int]:
    """Taps along each axis; along the stacked one, stacks."""
    axis = _stacked(conv)
    return [_groups(conv) if a is axis else a.size for a in conv.axes]


def _weight_indices(conv: Conv) -> None:
    write, stack = conv.body.writer, conv.plan.stack
    write.line(f"Q = {stack * conv.channels}")
    write.line("i_q = nl.arange(Q)[:, None]")
    write.line("j_q = nl.arange(Q)[:, None, None, None]")
    loaded = [("p", "P"), ("c", "C"), *((a.name, str(a.size)) for a in conv.axes)]
    _index_grid(write, "w", loaded)
    _index_grid(write, "s", [("p", "P"), ("t", str(stack)), ("c", "C")])


def _index_grid(write: Writer, prefix: str, sizes: list[tuple[str, str]]) -> None:
    """An index for each dimension of a tile."""
    for place, (name, size) in enumerate(sizes):
        index = ", ".join(":" if at == place else "None" for at in range(len(sizes)))
        write.line(f"{prefix}_{name} = nl.arange({size})[{index}]")


def _taps_of_group(conv: Conv) -> str:
    """The taps of one stack, as they lie in the weights."""
    axis, several = _stacked(conv), _groups(conv) > 1
    own = f"t_{axis.name} * {conv.plan.stack} + s_t" if several else "s_t"
    others = {a.name: f"t_{a.name}" if a.size > 1 else "0" for a in conv.axes}
    return ", ".join(own if a is axis else others[a.name] for a in conv.axes)


def _loops(conv: Conv) -> Iterable[str]:
    """A loop for each axis of taps; the stacked one goes by stacks."""
    return [
        f"for t_{a.name} in nl.affine_range({count}):"
        for a, count in zip(conv.axes, _counts(conv), strict=True)
        if count > 1
    ]


def _number(conv: Conv) -> str:
    """The number of a stack of taps."""
    terms, wide = [], 1
    for axis, count in zip(reversed(conv.axes), reversed(_counts(conv)), strict=True):
        if count > 1:
            terms.append(times(f"t_{axis.name}", wide))
        wide *= count
    return " + ".join(reversed(terms)) or "0"


def _moved(axis: Axis, shift: str) -> Axis:
    """The axis as one stacked tap sees it."""
    far = axis.dilation * (axis.size - 1)
    by = f"({shift}) * {axis.dilation}" if axis.dilation > 1 else shift
    return replace(axis, shift=by, far=far)
