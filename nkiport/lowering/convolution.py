"""Emits convolutions: sums over channels and taps in PSUM, weights turned once."""

from nkiport.lowering import beside, plain_taps, stacked_taps
from nkiport.lowering.anchored import finish, fixed, load_fixed, load_shared, nest
from nkiport.lowering.conv import Conv
from nkiport.lowering.kernel import PARTITIONS
from nkiport.lowering.space import tile_loops, write_column


def write_convolution(conv: Conv) -> None:
    """Weights outside, image inside, products of one tile of positions innermost."""
    body, write = conv.body, conv.body.writer
    taps = stacked_taps if conv.plan.sharing.shared else plain_taps
    write.line(f"C = {min(conv.channels, PARTITIONS)}")
    write.line("i_k = nl.arange(P)[None, :]")
    write.line("j_c = nl.arange(C)[:, None, None, None]")
    if conv.rows > 1:
        beside.write_indices(conv)
    write.line()
    group = f"for g in nl.affine_range({conv.groups}):" if conv.groups > 1 else ""
    body.row_end = conv.row_end
    with nest(write, group, "" if conv.plan.kept else conv.block):
        taps.write_weights(conv)
        _load_fixed(conv)
        with nest(write, "for o0 in nl.affine_range(outer0):", *tile_loops(conv.axes)):
            if conv.rows == 1:
                write_column(body, conv.axes)
                load_shared(body)
            taps.write_image(conv)
            with nest(write, conv.block if conv.plan.kept else ""):
                if conv.rows == 1:
                    write.line(f"row = {conv.row()}")
                write.line(f"acc = nl.zeros(({conv.results}, F), dtype=nl.float32, buffer=nl.psum)")
                taps.write_sums(conv)
                if conv.rows > 1:
                    beside.write_rest(conv)
                else:
                    finish(body, conv.op)


def _load_fixed(conv: Conv) -> None:
    """What the channels of the held tiles need at every position."""
    several = conv.held > 1
    if several and fixed(conv.body):
        conv.body.writer.line(f"i_t = nl.arange({conv.held})[None, :]")
    rows = conv.row(tile="i_t" if several else "m")
    load_fixed(conv.body, conv.op, rows, "m" if several else "")
