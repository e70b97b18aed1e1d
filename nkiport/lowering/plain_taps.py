"""Convolutions of many channels: a tile of channels on the partitions, one product for each tap."""

import math

from nkiport.lowering.anchored import nest
from nkiport.lowering.conv import Conv
from nkiport.lowering.kernel import PARTITIONS
from nkiport.lowering.space import load_image, masks_of, tap_loops, tap_number


def write_weights(conv: Conv) -> None:
    """Turn the weights, so that input channels lie on the partitions."""
    write, taps = conv.body.writer, math.prod(conv.window.size)
    write.line("i_c = nl.arange(C)[:, None]")
    write.comment("Weights are turned once: input channels on the partitions, a tile for each tap.")
    write.line(
        f"turned = nl.zeros((C, {conv.held}, {conv.parts}, {taps}, P), dtype={conv.dtype(1)})"
    )
    write.line(f"i_c2, i_t = nl.arange(C)[None, :, None], nl.arange({taps})[None, None, :]")
    write.line("i_p3 = nl.arange(P)[:, None, None]")
    channel = "c * C + i_c2" if conv.parts > 1 else "i_c2"
    masks = [f"({conv.row_mask('i_p3')})"]
    if conv.channels % min(conv.channels, PARTITIONS):
        masks.append(f"({channel} < {conv.channels})")
    with nest(write, conv.held_block, _part_loop(conv)):
        write.line(f"strip = nl.zeros((P, C, {taps}), dtype={conv.dtype(1)})")
        write.call(
            "strip[i_p3, i_c2, i_t] = nl.load(",
            [f"{conv.weight}[{conv.row('i_p3')}, {channel}, i_t]", f"mask={' & '.join(masks)}"],
        )
        with nest(write, f"for t in nl.affine_range({taps}):" if taps > 1 else ""):
            tap = "t" if taps > 1 else "0"
            write.call(
                f"turned[i_c, {conv.held_tile}, {_part(conv)}, {tap}, i_k] = nl.copy(",
                [f"nisa.nc_transpose(strip[i_p, nl.arange(C)[None, :], {tap}])"],
            )


def write_image(conv: Conv) -> None:
    """Load what the tile of positions needs of the image, all channels of it."""
    sizes = ", ".join(str(axis.part) for axis in conv.axes)
    own = "c * C + j_c" if conv.parts > 1 else "j_c"
    partial = conv.channels % min(conv.channels, PARTITIONS)
    rows = f"{own} < {conv.channels}" if partial else ""
    masks = masks_of(conv.axes, rows)
    conv.write_part(f"(C, {conv.parts}, {sizes})", masks, "channels")
    with nest(conv.body.writer, _part_loop(conv)):
        load_image(
            conv.body, conv.axes, f"part[j_c, {_part(conv)}",
            f"{conv.image}[o0, {conv.first}{own}", masks,
        )  # fmt: skip


def write_sums(conv: Conv) -> None:
    """One product for each tap and each tile of channels."""
    write = conv.body.writer
    places = ", ".join(axis.tap for axis in conv.axes)
    with nest(write, _part_loop(conv), *tap_loops(conv.axes, "affine_range")):
        write.call(
            "acc[nl.arange(P)[:, None, None, None], spot] += nisa.nc_matmul(",
            [
                f"turned[i_c, {conv.held_tile}, {_part(conv)}, {tap_number(conv.axes)}, i_k]",
                f"part[j_c, {_part(conv)}, {places}]",
            ],
        )


def _part_loop(conv: Conv) -> str:
    return f"for c in nl.affine_range({conv.parts}):" if conv.parts > 1 else ""


def _part(conv: Conv) -> str:
    return "c" if conv.parts > 1 else "0"
