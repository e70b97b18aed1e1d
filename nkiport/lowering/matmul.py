"""Emits a group on a matmul: K on the partitions of both operands, sums in PSUM, then the rest."""

from collections.abc import Mapping
from dataclasses import dataclass

from nkiport.lowering.anchored import finish, load_shared, nest
from nkiport.lowering.fusion import Access
from nkiport.lowering.ir import Op, Program, Use
from nkiport.lowering.kernel import (
    FLAT,
    Body,
    Launch,
    Parameter,
    axes,
    plain,
    shape_texts,
    times,
)
from nkiport.lowering.rows import summary
from nkiport.lowering.select import DTYPES
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
    shape: tuple[int, ...]
    plain: bool
    """Whether the tensor has the axes of the product, so that it needs no addresses."""

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
        if not self.plain:
            return self._address(names)
        order = axes(self.access.strides)
        batch = ["0" if step == 0 else f"o{at}" for at, step in enumerate(self.access.strides)]
        return ", ".join(names.get(axis, batch[axis]) for axis in order)

    def _address(self, names: Mapping[int, str]) -> str:
        """Where a tile lies in memory, by the strides of the operand."""
        terms = [f"{self.access.offset}"] if self.access.offset else []
        for axis, step in enumerate(self.access.strides):
            name = names.get(axis, f"o{axis}")
            if axis in names and not step:
                terms.append(f"({name}) * 0" if step == 0 else name)
            elif step:
                terms.append(name if step == 1 else times(f"({name})", step))
        return " + ".join(terms)

    def size(self, what: str) -> str:
        """Where the kernel reads a size: ``k`` or the other one."""
        last = len(self.access.strides) - 1
        wanted = last if (what == "k") == (self.other == "rows") else last - 1
        if not self.plain:
            return str(self.shape[wanted])
        return f"{self.name}.shape[{axes(self.access.strides).index(wanted)}]"


def emit_matmul(program: Program, plan: MatmulPlan, writer: Writer) -> Launch:
    """Write the kernel and say how it is launched."""
    group = plan.group
    op = group.base
    assert op is not None  # noqa: S101 - the plan is a matmul's
    body = Body(program, group, writer, "N_TILE")
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
        _tiles(body, plan, strips=bool(plan.block) and (left.turned or right.turned))
        _loops(body, plan, op, left, right)
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


def _tiles(body: Body, plan: MatmulPlan, *, strips: bool) -> None:
    write = body.writer
    write.line()
    columns = "512 columns, one PSUM bank of fp32"
    if plan.columns is not None:
        columns = f"{plan.columns} columns, which leaves more to work on at once"
    write.comment(
        "K lies on the partitions of both operands; a result tile has 128 rows, which is what "
        f"the stationary side holds, and up to {columns}."
    )
    write.line("P = nl.tile_size.pmax")
    write.line("k_tiles = math.ceil(depth / P)")
    most = "nl.tile_size.gemm_moving_fmax" if plan.columns is None else plan.columns
    write.line(f"N_TILE = min({most}, P * math.ceil(cols / P))")
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


def _loops(body: Body, plan: MatmulPlan, op: Op, left: Side, right: Side) -> None:
    body.writer.line()
    outer = [f"for o{n} in nl.affine_range(outer{n}):" for n in range(len(op.shape) - 2)]
    walk = _blocked if plan.block else _passing
    walk(body, op, left, right, outer)


def _blocked(body: Body, op: Op, left: Side, right: Side, outer: list[str]) -> None:
    """Hold a block of left tiles; walk the columns of the right operand once for the block."""
    write = body.writer
    with nest(write, *outer, "for b in nl.affine_range(m_tiles // block):"):
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
            write.line("col = n * N_TILE + i_f")
            load_shared(body)
            with write.block("for m in nl.affine_range(block):"):
                write.line("row = (b * block + m) * P + i_p")
                write.line("acc = nl.zeros((P, N_TILE), dtype=nl.float32, buffer=nl.psum)")
                with write.block("for k in nl.affine_range(k_tiles):"):
                    write.line("acc += nisa.nc_matmul(left[i_p, m, k, i_k], right[i_p, k, i_f])")
                finish(body, op)


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
    with nest(write, *heads):
        write.line("row = m * P + i_p")
        write.line("col = n * N_TILE + i_f")
        load_shared(body)
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
        finish(body, op)
