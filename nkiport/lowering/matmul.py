"""Emits a group on a matmul: its parameters and sizes; ``product`` writes what is inside."""

from nkiport.lowering.fusion import Access
from nkiport.lowering.ir import Program, Use
from nkiport.lowering.kernel import (
    FLAT,
    Body,
    Launch,
    Parameter,
    axes,
    plain,
    shape_texts,
)
from nkiport.lowering.product import Product, write_product
from nkiport.lowering.rows import summary
from nkiport.lowering.select import DTYPES
from nkiport.lowering.side import Side
from nkiport.lowering.tiling import MatmulPlan
from nkiport.lowering.writer import Writer

NAMES = frozenset(
    {"K", "TURN", "STRIP", "m_tiles", "n_tiles", "i_k", "i_r", "i_c", "i_j", "i_d", "i_e", "i_h",
     "s", "rows_strip", "cols_strip"}
)  # fmt: skip
"""What the kernel names itself, besides what every kernel does."""


def emit_matmul(program: Program, plan: MatmulPlan, writer: Writer) -> Launch:
    """Write the kernel and say how it is launched."""
    group = plan.group
    op = group.base
    assert op is not None  # noqa: S101 - the plan is a matmul's
    taken = {*NAMES, *(op.name for op in group.ops)}
    body = Body(program, group, writer, "cols" if group.reduces else "N_TILE", taken=taken)
    left, right = (
        side_of(body, use, other) for use, other in zip(op.uses, ("rows", "cols"), strict=True)
    )
    parameters = (
        *(parameter_of(body, side, use) for side, use in zip((left, right), op.uses, strict=True)),
        *body.parameters(),
    )
    kernel = f"{group.name}_kernel"
    writer.line("@nki.jit")
    with writer.block(f"def {kernel}({', '.join(p.name for p in parameters)}):"):
        writer.line(f'"""{summary(group)}"""')
        _sizes(body, left, right)
        body.allocate(body.names_of_sizes())
        write_product(Product(body, plan, op, left, right))
        writer.line(f"return {', '.join(body.out(name) for name in group.stored)}")
    return Launch(kernel, parameters, group.stored, body.result_texts())


def side_of(body: Body, use: Use, other: str) -> Side:
    """How a product reads an operand whose second size is that of the rows or cols."""
    strides = tuple(
        None if size == 1 else step for size, step in zip(use.shape, use.strides, strict=True)
    )
    name = body.fresh(use.value)
    dtype = DTYPES[body.program.dtype_of(use.value)]
    access = Access(use.value, strides, use.offset)
    shaped = 0 not in strides[-2:] and plain(body.program, access, use.shape)
    return Side(name, access, other, dtype, use.shape, shaped)


def parameter_of(body: Body, side: Side, use: Use) -> Parameter:
    """The operand as the kernel takes it."""
    shape = shape_texts(body.program, side.access, use.shape) if side.plain else FLAT
    return Parameter(side.name, use.value, shape)


def _sizes(body: Body, left: Side, right: Side) -> None:
    write = body.writer
    write.line(f"rows = {left.size('rows')}")
    write.line(f"cols = {right.size('cols')}")
    write.line(f"depth = {left.size('k')}")
    for axis, size in enumerate(left.shape[:-2]):
        shaped = [side for side in (left, right) if side.plain and side.access.strides[axis]]
        places = [(side.name, axes(side.access.strides).index(axis)) for side in shaped[:1]]
        known = [f"{name}.shape[{place}]" for name, place in places]
        write.line(f"outer{axis} = {known[0] if known else size}")
