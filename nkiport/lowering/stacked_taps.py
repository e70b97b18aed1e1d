"""Convolutions of few channels: taps lie on the partitions beside each other.

One product sums over ``high`` x ``wide`` taps of all channels, and may give several rows of the
result (see ``sharing``). The image is loaded once for each of those taps, shifted; rows of memory
stay whole.
"""

from collections.abc import Iterable
from dataclasses import replace

from nkiport.lowering.anchored import nest
from nkiport.lowering.conv import Conv
from nkiport.lowering.kernel import times
from nkiport.lowering.space import Axis, load_image, masks_of
from nkiport.lowering.writer import Writer


def write_weights(conv: Conv) -> None:
    """Turn the weights, so that taps and channels lie on the partitions together."""
    write, share = conv.body.writer, conv.plan.sharing
    depth, high, wide = _stacks(conv)
    write.comment(
        f"Weights are turned once: {share.high} x {share.wide} taps of {conv.channels} channels on "
        "the partitions; zeros stand for taps there are not"
        f"{', and between groups' if conv.merged > 1 else ''}."
    )
    _weight_indices(conv)
    write.line(
        f"turned = nl.zeros((Q, {conv.held}, {depth * high * wide}, {conv.results}), "
        f"dtype={conv.dtype(1)})"
    )
    size = f"P, C, {depth}, {_first_row(conv) + high * share.high}, {wide * share.wide}"
    with nest(write, conv.held_block):
        write.line(f"strip = nl.zeros(({size}), dtype={conv.dtype(1)})")
        _load_strip(conv)
        with nest(write, _loop("r", conv.rows), *_loops(conv)):
            column = "r * P + i_k" if conv.rows > 1 else "i_k"
            write.call(
                f"turned[i_q, {conv.held_tile}, {_number(conv)}, {column}] = nl.copy(",
                [f"nisa.nc_transpose(strip[{_strip_of_stack(conv)}])"],
            )


def _load_strip(conv: Conv) -> None:
    """Load the weights; each group's where its own channels and results are."""
    write = conv.body.writer
    _, height, width = conv.window.size
    first = _first_row(conv)
    taps = f"w_d, {f'{first} + ' if first else ''}w_h, w_w"
    place = f"(w_d * {height} + w_h) * {width} + w_w"
    if conv.merged == 1:
        source, mask = conv.row("w_p"), [f"mask={conv.row_mask('w_p')}"]
        write.call(
            f"strip[w_p, w_c, {taps}] = nl.load(", [f"{conv.weight}[{source}, w_c, {place}]", *mask]
        )
        return
    own, channels = conv.own // conv.merged, conv.channels // conv.merged
    row, column = f"{times('j', own)} + w_p", f"{times('j', channels)} + w_c"
    with write.block(f"for j in nl.affine_range({conv.merged}):"):
        write.call(
            f"strip[{row}, {column}, {taps}] = nl.load(",
            [f"{conv.weight}[{conv.row(row)}, w_c, {place}]"],
        )


def _first_row(conv: Conv) -> int:
    """Rows of zeros before the weights, so that those of each row of the result can be moved."""
    return (conv.rows - 1) * conv.window.stride[1]


def write_image(conv: Conv) -> None:
    """Load the image once for each stacked tap, moved by what the tap is away."""
    share, axes = conv.plan.sharing, conv.axes
    stacks = _stacks(conv)[1]
    sizes = ", ".join(str(axis.part) for axis in axes)
    tap = _sum(times("v", share.high) if stacks > 1 else "", "a" if share.high > 1 else "")
    moved = [axes[0], _moved(axes[1], tap, axes[1].size - 1), _moved(axes[2], "b", share.wide - 1)]
    masks = masks_of(moved)
    masks += [f"({tap} < {axes[1].size})"] if stacks * share.high > axes[1].size else []
    loops = (_loop("v", stacks), _loop("a", share.high), _loop("b", share.wide))
    conv.write_part(f"(Q, {stacks}, {sizes})", masks, "taps")
    target = f"part[{_partition(conv)}, {'v' if stacks > 1 else '0'}"
    with nest(conv.body.writer, *loops):
        load_image(conv.body, moved, target, f"{conv.image}[o0, {conv.first}j_c", masks)


def write_sums(conv: Conv) -> None:
    """One product for each stack of taps."""
    write, share = conv.body.writer, conv.plan.sharing
    depth, _, width = conv.axes
    _, high, wide = _stacks(conv)
    column = times("o_w", width.stride)
    if wide > 1:
        column += f" + {times('t_w', share.wide * width.dilation)}"
    row, all_rows = "t_h" if high > 1 else "0", "i_m" if conv.rows > 1 else "i_k"
    with nest(write, *_loops(conv)):
        write.call(
            f"acc[nl.arange({conv.results})[:, None, None, None], spot] += nisa.nc_matmul(",
            [
                f"turned[i_q, {conv.held_tile}, {_number(conv)}, {all_rows}]",
                f"part[j_q, {row}, {depth.tap}, o_h, {column}]",
            ],
        )


def _stacks(conv: Conv) -> tuple[int, int, int]:
    """How many products there are along depth, height and width."""
    depth, height, width = conv.plan.sharing.stacks(conv.plan.window)
    return depth, height, width


def _loop(name: str, count: int) -> str:
    """A loop; none where there is one round."""
    return f"for {name} in nl.affine_range({count}):" if count > 1 else ""


def _loops(conv: Conv) -> Iterable[str]:
    """A loop for each axis of products."""
    return [_loop(f"t_{a.name}", n) for a, n in zip(conv.axes, _stacks(conv), strict=True)]


def _sum(*terms: str) -> str:
    return " + ".join(term for term in terms if term) or "0"


def _partition(conv: Conv) -> str:
    """Where a tap's channels lie."""
    share = conv.plan.sharing
    tap = times("a", share.wide) if share.high > 1 else ""
    tap = _sum(tap, "b") if share.wide > 1 else tap
    return f"({tap}) * C + j_c" if "+" in tap or "*" in tap else _sum(tap and f"{tap} * C", "j_c")


def _weight_indices(conv: Conv) -> None:
    write, share = conv.body.writer, conv.plan.sharing
    write.line(f"Q = {share.high * share.wide * conv.channels}")
    write.line("i_q = nl.arange(Q)[:, None]")
    write.line("j_q = nl.arange(Q)[:, None, None, None]")
    sizes = zip(("d", "h", "w"), conv.window.size, strict=True)
    whole = [("p", "P"), ("c", "C")]
    each = [("p", str(conv.own // conv.merged)), ("c", str(conv.channels // conv.merged))]
    pair = whole if conv.merged == 1 else each
    _index_grid(write, "w", [*pair, *((name, str(n)) for name, n in sizes)])
    taps = [(name, n) for name, n in (("a", share.high), ("b", share.wide)) if n > 1]
    _index_grid(write, "s", [("p", "P"), *((name, str(n)) for name, n in taps), ("c", "C")])


def _index_grid(write: Writer, prefix: str, sizes: list[tuple[str, str]]) -> None:
    """An index for each dimension of a tile."""
    for place, (name, size) in enumerate(sizes):
        index = ", ".join(":" if at == place else "None" for at in range(len(sizes)))
        write.line(f"{prefix}_{name} = nl.arange({size})[{index}]")


def _strip_of_stack(conv: Conv) -> str:
    """The taps of one stack, as they lie in the weights."""
    share = conv.plan.sharing
    depth, high, wide = _stacks(conv)
    start = f"{_first_row(conv)} - {times('r', conv.window.stride[1])}" if conv.rows > 1 else ""
    row = _sum(start, times("t_h", share.high) if high > 1 else "", "s_a" if share.high > 1 else "")
    column = _sum(times("t_w", share.wide) if wide > 1 else "", "s_b" if share.wide > 1 else "")
    return f"s_p, s_c, {'t_d' if depth > 1 else '0'}, {row}, {column}"


def _number(conv: Conv) -> str:
    """The number of a stack of taps."""
    terms, wide = [], 1
    for axis, count in zip(reversed(conv.axes), reversed(_stacks(conv)), strict=True):
        if count > 1:
            terms.append(times(f"t_{axis.name}", wide))
        wide *= count
    return _sum(*reversed(terms))


def _moved(axis: Axis, shift: str, most: int) -> Axis:
    """The axis as one stacked tap sees it, moved by at most so many taps."""
    if most == 0 or shift == "0":
        return axis
    by = f"({shift})" if "+" in shift else shift
    far = axis.dilation * most
    return replace(axis, shift=times(by, axis.dilation) if axis.dilation > 1 else shift, far=far)
