"""The inside of a kernel on a matmul: K on the partitions of both operands, sums in PSUM.

One operand stays in SBUF with all of K while tiles of the other pass by. An operand that memory
has with K along its rows is loaded as it lies and turned on the tensor engine.
"""

import math
from dataclasses import dataclass

from nkiport.lowering.anchored import finish, load_narrow, load_shared, narrow, nest
from nkiport.lowering.ir import Op
from nkiport.lowering.kernel import Body
from nkiport.lowering.rules import REDUCTIONS
from nkiport.lowering.side import Side
from nkiport.lowering.tiling import STRIP, MatmulPlan
from nkiport.lowering.writer import Writer


@dataclass(frozen=True)
class Product:
    """A product that is being written."""

    body: Body
    plan: MatmulPlan
    op: Op
    left: Side
    right: Side

    @property
    def writer(self) -> Writer:
        """Where the lines go."""
        return self.body.writer

    @property
    def held(self) -> Side:
        """The operand that stays."""
        return self.left if self.plan.held == "rows" else self.right

    @property
    def passing(self) -> Side:
        """The operand that passes by."""
        return self.right if self.plan.held == "rows" else self.left

    @property
    def whole(self) -> bool:
        """Whether all of that operand stays."""
        *_, rows, cols = self.op.shape
        size, tile = (
            (rows, self.plan.rows) if self.plan.held == "rows" else (cols, self.plan.columns)
        )
        return self.plan.block * tile >= size

    @property
    def strip(self) -> int:
        """How many tiles of K are loaded at once to be turned: an equal part of them."""
        tiles = math.ceil(self.op.uses[0].shape[-1] / self.plan.depth)
        most = max(1, STRIP // self.plan.depth) if self.plan.block else 1
        return next(n for n in range(min(most, tiles), 0, -1) if tiles % n == 0)

    @property
    def vector_turns(self) -> bool:
        """Whether the vector engine copies what was turned: it has less to do after the product.

        It has what reads two tiles and what reduces rows; the scalar engine has all else.
        """
        body, after = self.body, [op for op in self.plan.group.ops if op is not self.op]
        heavy = [sum(map(body.wide, op.uses)) > 1 or op.kind in REDUCTIONS for op in after]
        return 2 * sum(heavy) < max(1, len(heavy))

    @property
    def ragged_depth(self) -> bool:
        """Whether the last tile of K is smaller."""
        return bool(self.op.uses[0].shape[-1] % self.plan.depth)

    def ragged(self, side: Side) -> bool:
        """Whether the last tile of an operand's rows or columns is smaller."""
        *_, rows, cols = self.op.shape
        of_rows = side.other == "rows"
        return bool(rows % self.plan.rows if of_rows else cols % self.plan.columns)

    def masks(self, side: Side, other: str, depth: str) -> list[str]:
        """The argument that leaves out of a load what does not exist, if anything does not."""
        found = [f"{other} < {side.other}"] if self.ragged(side) else []
        found += [f"{depth} < depth"] if self.ragged_depth else []
        both = f"({') & ('.join(found)})" if len(found) > 1 else "".join(found)
        return [f"mask={both}"] if found else []


def write_product(made: Product) -> None:
    """Write the tiles and the loops, down to the stores."""
    _tiles(made)
    outer = range(len(made.op.shape) - 2)
    made.writer.line()
    with nest(made.writer, *(f"for o{n} in nl.affine_range(outer{n}):" for n in outer)):
        walk = _held if made.plan.block else _passing
        (_whole_rows if made.plan.group.reduces else walk)(made)


def _tiles(made: Product) -> None:
    write, plan = made.writer, made.plan
    body = made.body
    body.row_end = "rows" if made.ragged(made.left) else ""
    body.column_mask = "col < cols" if made.ragged(made.right) else ""
    write.line()
    write.comment(_said(made))
    write.line(f"P, N_TILE, K = {plan.rows}, {plan.columns}, {plan.depth}")
    for name, size, tile in (("m", "rows", "P"), ("n", "cols", "N_TILE"), ("k", "depth", "K")):
        write.line(f"{name}_tiles = math.ceil({size} / {tile})")
    if plan.block and not made.whole:
        write.line(f"block = {plan.block}")
    write.line("i_p, i_r = nl.arange(P)[:, None], nl.arange(P)[None, :]")
    write.line("i_k, i_f = nl.arange(K)[:, None], nl.arange(N_TILE)[None, :]")
    if made.left.turned or made.right.turned:
        write.comment("So much of K is loaded at once, and turned a tile at a time.")
        write.line(f"STRIP = {made.strip} * K")
        write.line("i_d, i_e = nl.arange(STRIP)[None, :], nl.arange(K)[None, :]")
    if made.right.turned:
        write.line(f"TURN = {plan.turn}")
        write.line("i_c, i_j = nl.arange(TURN)[:, None], nl.arange(TURN)[None, :]")
    if plan.block and not (made.held is made.left and made.held.turned):
        write.line(f"i_h = nl.arange({_width(made)})[None, :]")
    if plan.group.reduces:
        write.line("col = nl.arange(cols)[None, :]")
    accesses = [*body.names, *(body.group.results[name] for name in body.group.stored)]
    if any(access.strides[-2] == 0 for access in accesses):
        write.line("i_p1 = nl.arange(1)[:, None]")
    if any(access.strides[-1] == 0 for access in accesses):
        write.line("i_f1 = nl.arange(1)[None, :]")


def _said(made: Product) -> str:
    """Why the tiles are as they are."""
    if not made.plan.block:
        return "K is too long to keep a tile of it: both operands pass by for every result."
    held, passing = made.held.name, made.passing.name
    some, again = ("", "") if made.whole else ("A block of ", " for each block")
    return (
        f"K lies on the partitions of both operands. {some}{held} stays in SBUF, and {passing} "
        f"passes by once{again}."
    )


def _width(made: Product) -> str:
    """The rows or columns of the operand that stays, as source."""
    count, tile = ("m_tiles", "P") if made.plan.held == "rows" else ("n_tiles", "N_TILE")
    return f"{count if made.whole else 'block'} * {tile}"


def _held(made: Product) -> None:
    """Keep one operand, or a block of it; for each tile of the other, walk what is kept."""
    write, body = made.writer, made.body
    rows = made.plan.held == "rows"
    count, tile, step = ("m_tiles", "P", "m") if rows else ("n_tiles", "N_TILE", "n")
    start = "" if made.whole else f"b * block * {tile}"
    many = count if made.whole else "block"
    with nest(write, "" if made.whole else f"for b in nl.affine_range({count} // block):"):
        _bring(made, made.held, start, _width(made), "i_h")
        if not rows and any(access.strides[-2] == 0 for access in body.names):
            write.line(f"col = {f'{start} + i_h' if start else 'i_h'}")
            load_shared(body, _width(made))
        outer = (
            "for n in nl.affine_range(n_tiles):" if rows else "for m in nl.affine_range(m_tiles):"
        )
        with write.block(outer):
            if rows:
                _bring(made, made.right, "n * N_TILE", "N_TILE", "i_f")
                write.line("col = n * N_TILE + i_f")
                load_shared(body)
            else:
                _bring(made, made.left, "m * P", "P", "i_r")
                write.line("row = m * P + i_p")
                load_narrow(body)
            with write.block(f"for {step} in nl.affine_range({many}):"):
                at = f"{step} * {tile}" if made.whole else f"(b * block + {step}) * {tile}"
                write.line(f"row = {at} + i_p" if rows else f"col = {at} + i_f")
                own = f"{step} * {tile} + {'i_r' if rows else 'i_f'}"
                left, right = (own, "i_f") if rows else ("i_r", own)
                if not rows:
                    _shared_part(body, own)
                _sum(made, f"left[i_k, k, {left}]", f"right[i_k, k, {right}]")
                finish(body, made.op, held=() if rows else narrow(body))


def _whole_rows(made: Product) -> None:
    """Keep the right operand; build each tile of rows with all its columns, for what reduces it."""
    write = made.writer
    _bring(made, made.right, "", _width(made), "i_h")
    load_shared(made.body)
    with write.block("for m in nl.affine_range(m_tiles):"):
        _bring(made, made.left, "m * P", "P", "i_r")
        write.line("row = m * P + i_p")
        if made.op.shape[-1] == made.plan.columns:
            _sum(made, "left[i_k, k, i_r]", "right[i_k, k, i_f]")
            finish(made.body, made.op)
            return
        write.comment("A row is longer than a PSUM bank.")
        tile = made.body.fresh(f"{made.op.name}_rows")
        write.line(f"{tile} = nl.ndarray((P, cols), dtype=nl.float32)")
        with write.block("for n in nl.affine_range(n_tiles):"):
            _sum(made, "left[i_k, k, i_r]", "right[i_k, k, n * N_TILE + i_f]")
            write.line(f"{tile}[i_p, n * N_TILE + i_f] = nl.copy(acc)")
        finish(made.body, made.op, tile)


def _shared_part(body: Body, own: str) -> None:
    """What all rows share lies beside the operand that stays: say which part a tile needs."""
    for use, access in body.group.reads.items():
        if access.strides[-2] == 0 and access.strides[-1] != 0:
            body.tiles[use] = f"{body.loaded[access]}[i_p, {own}]"


def _sum(made: Product, left: str, right: str) -> None:
    """A tile of the product, in PSUM."""
    made.writer.line("acc = nl.zeros((P, N_TILE), dtype=nl.float32, buffer=nl.psum)")
    with made.writer.block("for k in nl.affine_range(k_tiles):"):
        made.writer.call("acc += nisa.nc_matmul(", [left, right])


def _bring(made: Product, side: Side, start: str, width: str, along: str) -> None:
    """Bring all of K for so many rows or columns."""
    write = made.writer
    tile = "left" if side.other == "rows" else "right"
    ragged = not side.turned and (made.ragged(side) or made.ragged_depth)
    _make(made, f"{tile} = ", f"(K, k_tiles, {width})", side.dtype, zeros=ragged)
    if not side.turned:
        with write.block("for k in nl.affine_range(k_tiles):"):
            _straight(made, side, start, f"{tile}[i_k, k, {along}]", along)
        return
    unit, each = ("P", "m") if side.other == "rows" else ("TURN", "j")
    loop = "" if width == unit else f"for {each} in nl.affine_range({_parts(width, unit)}):"
    with nest(write, loop):
        at = " + ".join([*([start] if start else []), *([f"{each} * {unit}"] if loop else [])])
        strips = "s" if made.strip != _k_tiles(made) else ""
        with nest(
            write, f"for {strips} in nl.affine_range(k_tiles * K // STRIP):" if strips else ""
        ):
            _turn(made, side, at, tile, f"{each} * {unit} + " if loop else "", strips)


def _k_tiles(made: Product) -> int:
    return math.ceil(made.op.uses[0].shape[-1] / made.plan.depth)


def _parts(width: str, unit: str) -> str:
    """How many units a width is, as source."""
    return (
        width.removesuffix(f" * {unit}") if width.endswith(f" * {unit}") else f"{width} // {unit}"
    )


def _make(made: Product, head: str, shape: str, dtype: str, *, zeros: bool) -> None:
    if zeros:
        made.writer.comment("Zeros stand where the last tile ends early.")
    made.writer.call(f"{head}nl.{'zeros' if zeros else 'ndarray'}(", [shape, f"dtype={dtype}"])


def _turn(made: Product, side: Side, start: str, tile: str, place: str, strips: str) -> None:
    """Load a strip as it lies in memory; put its tiles of K on the partitions one by one."""
    write = made.writer
    down, along = ("i_p", "i_r") if side.other == "rows" else ("i_c", "i_j")
    other = f"{start} + {down}" if start else down
    depth = "s * STRIP + i_d" if strips else "i_d"
    strip = _load_strip(made, side, other, depth, "STRIP")
    with write.block(f"for k in nl.affine_range({'STRIP // K' if strips else 'k_tiles'}):"):
        part = "s * (STRIP // K) + k" if strips else "k"
        _copy(made, f"{tile}[i_k, {part}, {place}{along}]", f"{strip}[{down}, k * K + i_e]")


def _load_strip(made: Product, side: Side, other: str, depth: str, width: str) -> str:
    """Load so much of K as it lies in memory; zeros where it ends early. Gives the tile's name."""
    strip, mask = f"{side.other}_strip", made.masks(side, other, depth)
    into = strip
    if mask:
        unit, down = ("P", "i_p") if side.other == "rows" else ("TURN", "i_c")
        _make(made, f"{strip} = ", f"({unit}, {width})", side.dtype, zeros=True)
        into = f"{strip}[{down}, {'i_d' if width == 'STRIP' else 'i_e'}]"
    source = f"{side.name}[{side.index(other, depth)}]"
    made.writer.call(f"{into} = nl.load(", [source, *mask])
    return strip


def _copy(made: Product, target: str, source: str) -> None:
    """Turn a tile, and bring it from PSUM to where it is needed."""
    turned = f"nisa.nc_transpose({source})"
    if made.vector_turns:
        made.writer.call(f"{target} = nisa.tensor_copy(", [turned, "engine=nisa.vector_engine"])
    else:
        made.writer.call(f"{target} = nl.copy(", [turned])


def _straight(made: Product, side: Side, start: str, target: str, along: str) -> None:
    """Load a tile whose K already is on the partitions."""
    other = f"{start} + {along}" if start else along
    source = f"{side.name}[{side.index(other, 'k * K + i_k')}]"
    made.writer.call(f"{target} = nl.load(", [source, *made.masks(side, other, "k * K + i_k")])


def _passing(made: Product) -> None:
    """Read both operands again for every tile of the result, a tile of K at a time."""
    write = made.writer
    with nest(write, "for m in nl.affine_range(m_tiles):", "for n in nl.affine_range(n_tiles):"):
        write.line("row = m * P + i_p")
        write.line("col = n * N_TILE + i_f")
        load_shared(made.body)
        write.line("acc = nl.zeros((P, N_TILE), dtype=nl.float32, buffer=nl.psum)")
        with write.block("for k in nl.affine_range(k_tiles):"):
            _tile(made, made.left, "m * P", "P", "i_r")
            _tile(made, made.right, "n * N_TILE", "N_TILE", "i_f")
            write.line("acc += nisa.nc_matmul(left, right)")
        finish(made.body, made.op)


def _tile(made: Product, side: Side, start: str, width: str, along: str) -> None:
    """Bring one tile of K for so many rows or columns; turn it if memory has K along it."""
    write = made.writer
    tile = "left" if side.other == "rows" else "right"
    ragged = not side.turned and (made.ragged(side) or made.ragged_depth)
    _make(made, f"{tile} = ", f"(K, {width})", side.dtype, zeros=ragged)
    if not side.turned:
        _straight(made, side, start, f"{tile}[i_k, {along}]", along)
        return
    unit = "P" if side.other == "rows" else "TURN"
    loop = "" if width == unit else f"for j in nl.affine_range({_parts(width, unit)}):"
    down, turned = ("i_p", "i_r") if side.other == "rows" else ("i_c", "i_j")
    place = f"j * {unit} + " if loop else ""
    with nest(write, loop):
        strip = _load_strip(made, side, f"{start} + {place}{down}", "k * K + i_e", "K")
        _copy(made, f"{tile}[i_k, {place}{turned}]", strip)
