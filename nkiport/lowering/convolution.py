"""Emits convolutions: sums over channels and taps in PSUM, weights turned once."""

import math
from collections.abc import Sequence

from nkiport.lowering.anchored import finish, load_shared, nest
from nkiport.lowering.ir import Op, Window, detail_of
from nkiport.lowering.kernel import Body, times
from nkiport.lowering.select import DTYPES
from nkiport.lowering.space import (
    Axis,
    load_image,
    tap_loops,
    tap_number,
    tile_loops,
    write_column,
)
from nkiport.lowering.stacked import (
    write_stacked_image,
    write_stacked_sums,
    write_stacked_weights,
)
from nkiport.lowering.tiling import WindowPlan

PARTITIONS = 128


def write_convolution(
    body: Body, plan: WindowPlan, op: Op, axes: Sequence[Axis], names: Sequence[str]
) -> None:
    """Sum over channels and taps in PSUM: weights stay, the image passes by."""
    write, window = body.writer, detail_of(op, Window)
    image, weight = names
    channels = op.uses[1].shape[1]
    parts = math.ceil(channels / PARTITIONS)
    own = op.shape[1] // window.groups
    tiles = math.ceil(own / PARTITIONS)
    write.line(f"C = {min(channels, PARTITIONS)}")
    write.line("i_c = nl.arange(C)[:, None]")
    write.line("i_k = nl.arange(P)[None, :]")
    write.line("j_c = nl.arange(C)[:, None, None, None]")
    write.line()
    group = f"for g in nl.affine_range({window.groups}):" if window.groups > 1 else ""
    block = f"for m in nl.affine_range({tiles}):" if tiles > 1 else ""
    body.row_mask = f"row < (g + 1) * {own}" if group else "row < rows"
    with nest(write, group, "" if plan.kept else block):
        held = tiles if plan.kept else 1
        if plan.stack > 1:
            row = _row(window, own, tiles)
            write_stacked_weights(body, op, axes, weight, row, plan.stack, held)
        else:
            _weights(body, op, weight, held, parts)
        with nest(write, "for o0 in nl.affine_range(outer0):", *tile_loops(axes)):
            write_column(body, axes)
            load_shared(body)
            if plan.stack > 1:
                write_stacked_image(body, op, axes, image, plan.stack)
            else:
                _parts_of_image(body, op, axes, image, parts)
            with nest(write, block if plan.kept else ""):
                write.line(f"row = {_row(window, own, tiles)}")
                if plan.stack > 1:
                    write_stacked_sums(body, axes, plan.stack, kept=plan.kept and tiles > 1)
                else:
                    _sums(body, axes, parts, kept=plan.kept and tiles > 1)
                finish(body, op)


def _row(window: Window, own: int, tiles: int) -> str:
    terms = [times("g", own)] if window.groups > 1 else []
    terms += ["m * P"] if tiles > 1 else []
    return " + ".join([*terms, "i_p"])


def _weights(body: Body, op: Op, weight: str, tiles: int, parts: int) -> None:
    """Turn the weights, so that input channels lie on the partitions."""
    write, window = body.writer, detail_of(op, Window)
    channels = op.uses[1].shape[1]
    taps = math.prod(window.size)
    own = op.shape[1] // window.groups
    every = math.ceil(own / PARTITIONS)
    kind = DTYPES[body.program.dtype_of(op.uses[1].value)]
    write.comment("Weights are turned once: input channels on the partitions, a tile for each tap.")
    write.line(f"turned = nl.zeros((C, {tiles}, {parts}, {taps}, P), dtype={kind})")
    write.line(f"i_c2, i_t = nl.arange(C)[None, :, None], nl.arange({taps})[None, None, :]")
    write.line("i_p3 = nl.arange(P)[:, None, None]")
    block = f"for m in nl.affine_range({tiles}):" if tiles > 1 else ""
    part = f"for c in nl.affine_range({parts}):" if parts > 1 else ""
    at = ("m" if tiles > 1 else "0", "c" if parts > 1 else "0")
    row = _row(window, own, every).replace("i_p", "i_p3")
    channel = "c * C + i_c2" if parts > 1 else "i_c2"
    masks = [f"({body.row_mask.replace('row', row, 1).replace('rows', str(own))})"]
    masks += [f"({channel} < {channels})"] if channels % min(channels, PARTITIONS) else []
    with nest(write, block, part):
        write.line(f"strip = nl.zeros((P, C, {taps}), dtype={kind})")
        write.call(
            "strip[i_p3, i_c2, i_t] = nl.load(",
            [f"{weight}[{row}, {channel}, i_t]", f"mask={' & '.join(masks)}"],
        )
        with nest(write, f"for t in nl.affine_range({taps}):" if taps > 1 else ""):
            tap = "t" if taps > 1 else "0"
            write.call(
                f"turned[i_c, {', '.join(at)}, {tap}, i_k] = nl.copy(",
                [f"nisa.nc_transpose(strip[i_p, nl.arange(C)[None, :], {tap}])"],
            )


def _parts_of_image(body: Body, op: Op, axes: Sequence[Axis], image: str, parts: int) -> None:
    write, window = body.writer, detail_of(op, Window)
    channels = op.uses[1].shape[1]
    kind = DTYPES[body.program.dtype_of(op.uses[0].value)]
    sizes = ", ".join(str(axis.part) for axis in axes)
    write.comment("Zeros stand for the padding, and for channels there are not.")
    write.line(f"part = nl.zeros((C, {parts}, {sizes}), dtype={kind})")
    at = "c" if parts > 1 else "0"
    own = "c * C + j_c" if parts > 1 else "j_c"
    first = f"{times('g', channels)} + " if window.groups > 1 else ""
    with nest(write, f"for c in nl.affine_range({parts}):" if parts > 1 else ""):
        load_image(
            body, axes, f"part[j_c, {at}", f"{image}[o0, {first}{own}", f"{own} < {channels}"
        )


def _sums(body: Body, axes: Sequence[Axis], parts: int, *, kept: bool) -> None:
    write = body.writer
    write.line("acc = nl.zeros((P, F), dtype=nl.float32, buffer=nl.psum)")
    at = "c" if parts > 1 else "0"
    part = f"for c in nl.affine_range({parts}):" if parts > 1 else ""
    places = ", ".join(axis.tap for axis in axes)
    with nest(write, part, *tap_loops(axes, "affine_range")):
        write.call(
            "acc[nl.arange(P)[:, None, None, None], spot] += nisa.nc_matmul(",
            [
                f"turned[i_c, {'m' if kept else '0'}, {at}, {tap_number(axes)}, i_k]",
                f"part[j_c, {at}, {places}]",
            ],
        )
