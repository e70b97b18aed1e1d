"""Emits a group on a matmul: K on the partitions of both operands, sums in PSUM, then the rest."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from nkiport.lowering.fusion import Access
from nkiport.lowering.ir import Op, Program, Use
from nkiport.lowering.kernel import Body, Launch, Parameter, axes, shape_texts
from nkiport.lowering.rows import summary
from nkiport.lowering.select import DTYPES, Step, select
from nkiport.lowering.tiling import MatmulPlan
from nkiport.lowering.writer import Writer


@dataclass(frozen=True)
class Side:
    """One operand of the product: its tensor, and which axes hold K and the other size."""

    name: str
    access: Access
    other: str
    """The name of the size that is not K: rows or cols."""
    dtype: str

    @property
    def turned(self) -> bool:
        """Whether K runs along memory, so that tiles must be turned to have it on partitions."""
        order = axes(self.access.strides)
        depth = len(self.access.strides) - (1 if self.other == "rows" else 2)
        return order[-1] == depth

    def index(self, other: str, depth: str) -> str:
        """The index of a tile, in the tensor's own order."""
        last = len(self.access.strides) - 1
        names = (
            {last - 1: other, last: depth}
            if self.other == "rows"
            else {last - 1: depth, last: other}
        )
        batch = "0" if self.access.strides[0] == 0 else "o0"
        return ", ".join(names.get(axis, batch) for axis in axes(self.access.strides))

    def size(self, what: str) -> str:
        """Where the kernel reads a size: ``k`` or the other one."""
        last = len(self.access.strides) - 1
        wanted = last if (what == "k") == (self.other == "rows") else last - 1
        return f"{self.name}.shape[{axes(self.access.strides).index(wanted)}]"


def emit_matmul(program: Program, plan: MatmulPlan, writer: Writer) -> Launch:
    """Write the kernel and say how it is launched."""
    group = plan.group
    op = group.matmul
    assert op is not None  # noqa: S101 - the plan is a matmul's
    body = Body(program, group, writer, "N_TILE")
    left, right = (
        _side(body, use, other) for use, other in zip(op.uses, ("rows", "cols"), strict=True)
    )
    parameters = (
        *(_parameter(body, side, use) for side, use in zip((left, right), op.uses, strict=True)),
        *body.parameters(),
    )
    kernel = f"{group.name}_kernel"
    writer.line("@nki.jit")
    with writer.block(f"def {kernel}({', '.join(p.name for p in parameters)}):"):
        writer.line(f'"""{summary(group)}"""')
        _sizes(body, left, right, batched=len(op.shape) == BATCHED)
        body.allocate(body.names_of_sizes())
        _tiles(body, plan, strips=bool(plan.block) and (left.turned or right.turned))
        _loops(body, plan, op, left, right)
        writer.line(f"return {', '.join(body.out(name) for name in group.stored)}")
    return Launch(kernel, parameters, group.stored, body.result_texts())


BATCHED = 3
"""The rank of a product that has a batch dimension."""


def _side(body: Body, use: Use, other: str) -> Side:
    strides = tuple(
        None if size == 1 else step for size, step in zip(use.shape, use.strides, strict=True)
    )
    name = body.fresh(use.value)
    dtype = DTYPES[body.program.dtype_of(use.value)]
    return Side(name, Access(use.value, strides), other, dtype)


def _parameter(body: Body, side: Side, use: Use) -> Parameter:
    return Parameter(side.name, use.value, shape_texts(body.program, side.access, use.shape))


def _sizes(body: Body, left: Side, right: Side, *, batched: bool) -> None:
    write = body.writer
    write.line(f"rows = {left.size('rows')}")
    write.line(f"cols = {right.size('cols')}")
    write.line(f"depth = {left.size('k')}")
    if batched:
        side = right if left.access.strides[0] == 0 else left
        place = axes(side.access.strides).index(0)
        write.line(f"outer0 = {side.name}.shape[{place}]")


def _tiles(body: Body, plan: MatmulPlan, *, strips: bool) -> None:
    write = body.writer
    write.line()
    write.comment(
        "K lies on the partitions of both operands; a result tile has 128 rows, which is what "
        "the stationary side holds, and up to 512 columns, one PSUM bank of fp32."
    )
    write.line("P = nl.tile_size.pmax")
    write.line("k_tiles = math.ceil(depth / P)")
    write.line("N_TILE = min(nl.tile_size.gemm_moving_fmax, P * math.ceil(cols / P))")
    write.line("m_tiles = math.ceil(rows / P)")
    write.line("n_tiles = math.ceil(cols / N_TILE)")
    if plan.block:
        write.comment(
            f"So many row tiles (at most {plan.block}) stay in SBUF with all of K, and the right "
            "operand is read once for each block of them."
        )
        write.line(f"block = math.gcd(m_tiles, {plan.block})")
    else:
        write.comment("K is too long to keep a tile of rows: operands pass by for every result.")
    write.line("i_p = nl.arange(P)[:, None]")
    write.line("i_k = nl.arange(P)[None, :]")
    write.line("i_f = nl.arange(N_TILE)[None, :]")
    if strips:
        write.line("i_d = nl.arange(depth)[None, :]")
    accesses = [*body.names, *(body.group.results[name] for name in body.group.stored)]
    if any(access.strides[-2] == 0 for access in accesses):
        write.line("i_p1 = nl.arange(1)[:, None]")
    if any(access.strides[-1] == 0 for access in accesses):
        write.line("i_f1 = nl.arange(1)[None, :]")


@contextmanager
def _nest(write: Writer, *heads: str) -> Iterator[None]:
    with ExitStack() as stack:
        for head in heads:
            stack.enter_context(write.block(head))
        yield


def _loops(body: Body, plan: MatmulPlan, op: Op, left: Side, right: Side) -> None:
    body.writer.line()
    outer = ["for o0 in nl.affine_range(outer0):"] if len(op.shape) == BATCHED else []
    nest = _blocked if plan.block else _passing
    nest(body, op, left, right, outer)


def _blocked(body: Body, op: Op, left: Side, right: Side, outer: list[str]) -> None:
    """Hold a block of left tiles; walk the columns of the right operand once for the block."""
    write = body.writer
    with _nest(write, *outer, "for b in nl.affine_range(m_tiles // block):"):
        write.comment("Zeros stand where the last tile of K, or of rows, ends early.")
        write.line(f"left = nl.zeros((P, block, k_tiles, P), dtype={left.dtype})")
        with write.block("for m in nl.affine_range(block):"):
            _fill(body, left, "(b * block + m) * P", "left[i_p, m, k, i_k]")
        with write.block("for n in nl.affine_range(n_tiles):"):
            write.line(f"right = nl.zeros((P, k_tiles, N_TILE), dtype={right.dtype})")
            if right.turned:
                with write.block("for j in nl.affine_range(N_TILE // P):"):
                    _fill(body, right, "n * N_TILE + j * P", "right[i_p, k, j * P + i_k]")
            else:
                _fill(body, right, "n * N_TILE", "right[i_p, k, i_f]")
            _column_operands(body)
            with write.block("for m in nl.affine_range(block):"):
                write.line("row = (b * block + m) * P + i_p")
                write.line("acc = nl.zeros((P, N_TILE), dtype=nl.float32, buffer=nl.psum)")
                with write.block("for k in nl.affine_range(k_tiles):"):
                    write.line("acc += nisa.nc_matmul(left[i_p, m, k, i_k], right[i_p, k, i_f])")
                _rest(body, op)


def _fill(body: Body, side: Side, start: str, target: str) -> None:
    """Bring all of K for one tile of rows or columns; whole rows of memory at a time."""
    write = body.writer
    if side.turned:
        strip = f"{side.other}_strip"
        write.line(f"{strip} = nl.zeros((P, k_tiles * P), dtype={side.dtype})")
        source = f"{side.name}[{side.index(f'{start} + i_p', 'i_d')}]"
        write.call(f"{strip}[i_p, i_d] = nl.load(", [source, f"mask={start} + i_p < {side.other}"])
    with write.block("for k in nl.affine_range(k_tiles):"):
        if side.turned:
            write.call(f"{target} = nl.copy(", [f"nisa.nc_transpose({strip}[i_p, k * P + i_k])"])
        else:
            _straight_load(body, side, start, target)


def _straight_load(body: Body, side: Side, start: str, target: str) -> None:
    """Load a tile whose K already is on the partitions."""
    free = f"{start} + {target.removesuffix(']').split()[-1]}"
    mask = f"mask=(k * P + i_p < depth) & ({free} < {side.other})"
    source = f"{side.name}[{side.index(free, 'k * P + i_p')}]"
    body.writer.call(f"{target} = nl.load(", [source, mask])


def _tile(body: Body, side: Side, start: str, target: str) -> None:
    """Bring one tile of K for 128 rows or columns; turn it if memory has K along it."""
    write = body.writer
    if not side.turned:
        _straight_load(body, side, start, target)
        return
    index = side.index(f"{start} + i_p", "k * P + i_k")
    mask = f"mask=({start} + i_p < {side.other}) & (k * P + i_k < depth)"
    write.line(f"{side.other}_tile = nl.zeros((P, P), dtype={side.dtype})")
    write.call(f"{side.other}_tile[i_p, i_k] = nl.load(", [f"{side.name}[{index}]", mask])
    write.call(f"{target} = nl.copy(", [f"nisa.nc_transpose({side.other}_tile)"])


def _passing(body: Body, op: Op, left: Side, right: Side, outer: list[str]) -> None:
    """Read both operands again for every tile of the result."""
    write = body.writer
    heads = (*outer, "for m in nl.affine_range(m_tiles):", "for n in nl.affine_range(n_tiles):")
    with _nest(write, *heads):
        write.line("row = m * P + i_p")
        _column_operands(body)
        write.line("acc = nl.zeros((P, N_TILE), dtype=nl.float32, buffer=nl.psum)")
        with write.block("for k in nl.affine_range(k_tiles):"):
            write.comment("Zeros stand where the last tile of K, or of rows, ends early.")
            write.line(f"left = nl.zeros((P, P), dtype={left.dtype})")
            _tile(body, left, "m * P", "left[i_p, i_k]")
            write.line(f"right = nl.zeros((P, N_TILE), dtype={right.dtype})")
            if right.turned:
                with write.block("for j in nl.affine_range(N_TILE // P):"):
                    _tile(body, right, "n * N_TILE + j * P", "right[i_p, j * P + i_k]")
            else:
                _tile(body, right, "n * N_TILE", "right[i_p, i_f]")
            write.line("acc += nisa.nc_matmul(left[i_p, i_k], right[i_p, i_f])")
        _rest(body, op)


def _column_operands(body: Body) -> None:
    """Load what all rows share once for a tile of columns."""
    body.writer.line("col = n * N_TILE + i_f")
    for access in body.names:
        if access.strides[-2] == 0:
            body.load(access, columns="col", tail=True)


def _rest(body: Body, op: Op) -> None:
    """What follows the product, on the tile in PSUM, and the stores."""
    body.tiles[op.name] = "acc"
    for each in body.group.ops:
        body.tiles[each.name] = _renamed(body, each)
    held = {access for access in body.names if access.strides[-2] == 0}
    steps = {step.op.name: step for step in select(body.group, body.tiles, body.width)}
    for each in body.group.ops:
        for use in () if each is op else each.uses:
            access = body.group.reads.get(use)
            if access is not None and access not in held:
                body.load(access, columns="col", tail=True)
                held.add(access)
        if each.name in steps:
            body.step(steps[each.name])
        if each.name in body.group.stored:
            _store(body, each, op)


def _renamed(body: Body, op: Op) -> str:
    return body.tiles[op.name] if op.kind == "matmul" else body.alias(op) or op.name


def _store(body: Body, each: Op, op: Op) -> None:
    """Store; what still is in PSUM is copied to SBUF first, for DMA cannot read PSUM."""
    if body.tiles[each.name] == "acc":
        kind = DTYPES[body.program.dtype_of(each.name)]
        copied = Step(op, "nl.copy", ("acc",), (("dtype", kind),))
        name = f"{each.name}_tile"
        body.writer.call(
            f"{name} = {copied.function}(", [*copied.args, *(f"{k}={v}" for k, v in copied.kwargs)]
        )
        body.tiles[each.name] = name
    body.store(each.name, columns="col", tail=True)
