"""Emits a group on a window: a part of the image in SBUF, read once for each tap."""

import math

from nkiport.lowering.conv import Conv
from nkiport.lowering.convolution import write_convolution
from nkiport.lowering.ir import Program, Use, Window, detail_of, text_of
from nkiport.lowering.kernel import PARTITIONS, Body, Launch, Parameter
from nkiport.lowering.pooling import write_pooling
from nkiport.lowering.rows import summary
from nkiport.lowering.sharing import slot_of
from nkiport.lowering.space import axes_of, write_indices
from nkiport.lowering.window_tiling import WindowPlan
from nkiport.lowering.writer import Writer


def emit_window(program: Program, plan: WindowPlan, writer: Writer) -> Launch:
    """Write the kernel and say how it is launched."""
    op = plan.group.base
    assert op is not None  # noqa: S101 - the plan is a window's
    body = Body(program, plan.group, writer, "F")
    axes = axes_of(plan)
    names = [body.fresh(use.value) for use in op.uses]
    given = (*map(_given, names, op.uses), *body.parameters())
    writer.line("@nki.jit")
    with writer.block(f"def {plan.group.name}_kernel({', '.join(p.name for p in given)}):"):
        writer.line(f'"""{summary(plan.group)}"""')
        outer, rows, _ = op.shape
        writer.line(f"outer0, rows, cols = {outer}, {rows}, {math.prod(detail_of(op, Window).out)}")
        body.allocate(body.names_of_sizes())
        if op.kind == "conv":
            conv = Conv(body, plan, op, axes, *names)
            write_indices(body, axes, slot_of(conv.own) if conv.rows > 1 else PARTITIONS)
            write_convolution(conv)
        else:
            write_indices(body, axes, PARTITIONS)
            write_pooling(body, op, axes, names[0])
        writer.line(f"return {', '.join(body.out(name) for name in plan.group.stored)}")
    return Launch(f"{plan.group.name}_kernel", given, plan.group.stored, body.result_texts())


def _given(name: str, use: Use) -> Parameter:
    return Parameter(name, use.value, tuple(text_of(dim) for dim in use.dims))
