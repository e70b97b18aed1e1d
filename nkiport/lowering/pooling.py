"""Emits poolings: channels are rows, taps are joined one by one.

What is joined lies in PSUM: two operands of SBUF would share one port of the vector engine.
"""

from collections.abc import Sequence

from nkiport.lowering.anchored import finish, load_shared, nest
from nkiport.lowering.ir import Op, Window, detail_of
from nkiport.lowering.kernel import Body
from nkiport.lowering.select import DTYPES
from nkiport.lowering.space import (
    Axis,
    load_image,
    masks_of,
    tap_loops,
    tile_loops,
    write_column,
)


def write_pooling(body: Body, op: Op, axes: Sequence[Axis], image: str) -> None:
    """Join what lies under the window, tap by tap; rows are channels."""
    write, window = body.writer, detail_of(op, Window)
    worst = "-math.inf" if window.op == "max" else "0"
    call = {"max": "nl.maximum", "sum": "nl.add"}[window.op]
    sizes = ", ".join(str(axis.part) for axis in axes)
    places = ", ".join(axis.tap for axis in axes)
    write.line("j_p = nl.arange(P)[:, None, None, None]")
    write.line()
    heads = ["for o0 in nl.affine_range(outer0):", "for r in nl.affine_range(math.ceil(rows / P)):"]
    with nest(write, *heads):
        write.line("row = r * P + i_p")
        with nest(write, *tile_loops(axes)):
            write_column(body, axes)
            load_shared(body)
            kind = DTYPES[body.program.dtype_of(op.uses[0].value)]
            write.line(f"part = nl.full((P, {sizes}), {worst}, dtype={kind})")
            masks = masks_of(axes, "r * P + j_p < rows")
            load_image(body, axes, "part[j_p", f"{image}[o0, r * P + j_p", masks)
            write.line(f"acc = nl.full((P, F), {worst}, dtype=nl.float32, buffer=nl.psum)")
            with nest(write, *tap_loops(axes, "sequential_range")):
                write.call(f"acc[j_p, spot] = {call}(", ["acc[j_p, spot]", f"part[j_p, {places}]"])
            finish(body, op)
