"""Emits poolings and depthwise convolutions: channels are rows, taps are joined one by one.

Weighed sums lie in PSUM, for the vector engine reads two operands of SBUF at half the speed.
"""

import math
from collections.abc import Sequence

from nkiport.lowering.anchored import finish, load_shared, nest
from nkiport.lowering.ir import Op, Window, detail_of
from nkiport.lowering.kernel import Body
from nkiport.lowering.select import DTYPES
from nkiport.lowering.space import (
    Axis,
    load_image,
    tap_loops,
    tap_number,
    tile_loops,
    write_column,
)


def write_pooling(body: Body, op: Op, axes: Sequence[Axis], names: Sequence[str]) -> None:
    """Join what lies under the window, tap by tap; rows are channels."""
    write, window = body.writer, detail_of(op, Window)
    worst = "-math.inf" if window.op == "max" else "0"
    weighed = len(op.uses) > 1
    sizes = ", ".join(str(axis.part) for axis in axes)
    write.line("j_p = nl.arange(P)[:, None, None, None]")
    write.line()
    heads = ["for o0 in nl.affine_range(outer0):", "for r in nl.affine_range(math.ceil(rows / P)):"]
    with nest(write, *heads):
        write.line("row = r * P + i_p")
        if weighed:
            taps = math.prod(window.size)
            write.line(f"i_t = nl.arange({taps})[None, :]")
            write.line(f"weights = nl.zeros((P, {taps}), dtype=nl.float32)")
            write.call("weights[i_p, i_t] = nl.load(", [f"{names[1]}[row, i_t]", "mask=row < rows"])
        with nest(write, *tile_loops(axes)):
            write_column(body, axes)
            load_shared(body)
            kind = DTYPES[body.program.dtype_of(op.uses[0].value)]
            write.line(f"part = nl.full((P, {sizes}), {worst}, dtype={kind})")
            load_image(body, axes, "part[j_p", f"{names[0]}[o0, r * P + j_p", "r * P + j_p < rows")
            where = ", buffer=nl.psum" if weighed else ""
            write.line(f"acc = nl.full((P, F), {worst}, dtype=nl.float32{where})")
            with nest(write, *tap_loops(axes, "sequential_range")):
                _join(body, axes, window.op, weighed=weighed)
            finish(body, op)


def _join(body: Body, axes: Sequence[Axis], how: str, *, weighed: bool) -> None:
    places = ", ".join(axis.tap for axis in axes)
    part, target = f"part[j_p, {places}]", "acc[j_p, spot]"
    if weighed:
        body.writer.call(
            f"{target} = nisa.scalar_tensor_tensor(",
            [f"data={part}", "op0=nl.multiply", f"operand0=weights[i_p, {tap_number(axes)}]",
             "op1=nl.add", f"operand1={target}"],
        )  # fmt: skip
        return
    call = {"max": "nl.maximum", "sum": "nl.add"}[how]
    body.writer.call(f"{target} = {call}(", [target, part])
