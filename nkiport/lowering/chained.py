"""A chain that is being written, and how its operands come into SBUF."""

import math
from dataclasses import dataclass

from nkiport.lowering.anchored import nest
from nkiport.lowering.chain import ChainPlan
from nkiport.lowering.fusion import Access
from nkiport.lowering.kernel import Body
from nkiport.lowering.side import Side
from nkiport.lowering.writer import Writer

TURNS = 2
"""Turned tiles of weights that leave PSUM together: enough that a copy's start-up costs little,
and so few that the product can soon begin with the first of them."""


@dataclass
class Chained:
    """A chain that is being written."""

    plan: ChainPlan
    writer: Writer
    score: Body
    weight: Body
    value: Body
    query: Side
    key: Side
    held: Side
    """The values, by which the weights are multiplied."""
    scale: str = ""
    """What the queries are multiplied by as they are turned, which costs nothing."""

    @property
    def ragged_rows(self) -> bool:
        """Whether the last tile of rows is smaller."""
        return bool(self.plan.chain.scores.sizes[-2] % self.plan.rows)

    @property
    def ragged_keys(self) -> bool:
        """Whether the last tile of keys is smaller."""
        cols = self.plan.chain.scores.sizes[-1]
        return bool(cols % self.plan.keys or cols % self.plan.columns)

    @property
    def ragged(self) -> bool:
        """Whether tiles of weights end early, in rows or in keys."""
        return self.ragged_rows or self.ragged_keys

    @property
    def weights(self) -> str:
        """What the values are multiplied by."""
        base = self.value.group.base
        assert base  # noqa: S101 - the group is built on a product
        return base.uses[0].value

    @property
    def parts(self) -> int:
        """Parts of the depth that lie on the partitions one after another."""
        return self.query.shape[-1] // self.plan.depth

    @property
    def one_bank(self) -> bool:
        """Whether a row of scores is one PSUM bank."""
        return self.plan.chain.scores.sizes[-1] == self.plan.columns

    @property
    def in_psum(self) -> bool:
        """Whether the row operations read the scores as the product leaves them."""
        return self.one_bank and len(self.score.group.ops) == 1 and not self.causal

    @property
    def causal(self) -> bool:
        """Whether each row sees the keys up to its own."""
        return self.plan.chain.hidden is not None

    @property
    def vector_adds(self) -> bool:
        """Whether the vector engine works on scores already: the scalar engine copies then."""
        wide = [lies for lies in self.weight.group.reads.values() if lies.strides[-1] != 0]
        return len(self.score.group.ops) > 1 or bool(wide)

    @property
    def together(self) -> int:
        """How many turned tiles of weights leave PSUM together."""
        tiles = math.ceil(self.plan.chain.scores.sizes[-1] / self.plan.keys)
        return TURNS if self.causal else math.gcd(self.heads * tiles, TURNS)

    @property
    def loops(self) -> list[str]:
        """A loop for each batch dimension."""
        outer = range(len(self.plan.chain.scores.sizes) - 2)
        loops = [f"for o{n} in nl.affine_range(outer{n}):" for n in outer]
        if self.heads > 1:
            loops[-1] = f"for g in nl.affine_range(outer{outer[-1]} // {self.heads}):"
        return loops

    @property
    def heads(self) -> int:
        """How many elements of the last batch dimension are worked on together."""
        return self.plan.heads

    @property
    def stack(self) -> int:
        """How many of them lie beside each other on the partitions."""
        return self.plan.stack

    @property
    def each_head(self) -> str:
        """The loop over those that are worked on together, if there are several."""
        return f"for h in nl.static_range({self.heads}):" if self.heads > 1 else ""

    def name_head(self, which: str = "h") -> None:
        """Inside that loop, say which element it is."""
        if self.heads > 1:
            self.writer.line(f"o{len(self.loops) - 1} = g * {self.heads} + {which}")

    def own(self, side: Side) -> bool:
        """Whether each of several heads has an operand of its own."""
        return self.heads > 1 and bool(side.access.strides[-3])

    def at(self, part: int, index: str) -> str:
        """An index into the depth, inside of one part of it."""
        return f"{part} * D_TILE + {index}" if part else index

    def depth(self, side: Side, part: int) -> str:
        """Where an operand holds a part of the depth of the present head: partitions and slot."""
        if not self.own(side):
            return f"i_e, {part}"
        if self.stack == 1:
            return "i_e, h"
        if self.stack == self.heads:
            return "h * D_TILE + i_e, 0"
        return f"h % {self.stack} * D_TILE + i_e, h // {self.stack}"

    def each_stack(self, side: Side) -> str:
        """The loop over stacks of heads, or over heads, that an operand has side by side."""
        several = self.own(side) and self.slots(side) > 1
        return f"for s in nl.static_range({self.slots(side)}):" if several else ""

    def slots(self, side: Side) -> int:
        """How many tiles of the depth an operand holds beside each other."""
        return self.heads // self.stack if self.own(side) else self.parts

    @property
    def down(self) -> str:
        """The partitions that the depth takes."""
        return f"{self.stack} * D_TILE" if self.stack > 1 else "D_TILE"

    def values_at(self, columns: str) -> str:
        """The index of a tile of values."""
        return f"i_k, h, j, {columns}" if self.own(self.held) else f"i_k, j, {columns}"

    @property
    def upright(self) -> bool:
        """Whether the scores have their keys on the partitions."""
        return self.plan.upright and len(self.score.group.ops) == 1

    @property
    def shared(self) -> int:
        """From which loop on keys and values stay the same: heads in a group share theirs."""
        return max(varies(self.key.access), varies(self.held.access))

    @property
    def loads_by_head(self) -> bool:
        """Whether scores or weights need what is loaded anew for each head."""
        bodies = (self.score, self.weight)
        return any((body, each) not in self.hoisted for body in bodies for each in body.names)

    @property
    def hoisted(self) -> list[tuple[Body, Access]]:
        """What all rows share, and the kernel that reads it: loaded before the rows are walked."""
        bodies = (*(() if self.ragged_keys else (self.score,)), self.weight, self.value)
        inner = len(self.loops) if self.heads > 1 else len(self.loops) + 1
        return [
            (body, access)
            for body in bodies
            for access in body.names
            if access.strides[-2] == 0 and varies(access) < inner
        ]


def varies(access: Access) -> int:
    """From which loop on an operand stays the same."""
    return max((n + 1 for n, step in enumerate(access.strides[:-2]) if step), default=0)


def bring_keys(made: Chained) -> None:
    """Keys with their depth on the partitions."""
    write, key = made.writer, made.key
    write.comment("The keys, their depth on the partitions.")
    room = "max(key_tiles * KEYS, n_tiles * N_TILE)" if made.ragged_keys else "key_tiles * KEYS"
    fill = "nl.zeros" if made.ragged_keys else "nl.ndarray"
    shape = f"({made.down}, {made.slots(key)}, {room})"
    write.call(f"keys = {fill}(", [shape, f"dtype={key.dtype}"])
    mask = "j * KEYS + {} < cols" if made.ragged_keys else ""
    with write.block("for j in nl.affine_range(key_tiles):"):
        _turned(made, key, "j * KEYS", ("i_k", "i_j"), "keys[{}, {}, j * KEYS + i_j]", mask)


def bring_values(made: Chained) -> None:
    """Values with their keys on the partitions."""
    write, held = made.writer, made.held
    beside = "; ones beside them add the weights up." if made.upright else "."
    write.comment(f"The values, their keys on the partitions{beside}")
    ragged = made.ragged_keys
    fill = "nl.zeros" if ragged else "nl.ndarray"
    own = made.own(held)
    wide = "width + 1" if made.upright else "width"
    shape = f"(KEYS, {made.heads}, key_tiles, {wide})" if own else f"(KEYS, key_tiles, {wide})"
    write.call(f"values = {fill}(", [shape, f"dtype={held.dtype}"])
    with nest(write, made.each_head if own else ""):
        if own:
            made.name_head()
        with write.block("for j in nl.affine_range(key_tiles):"):
            source = f"{held.name}[{held.index('i_w', 'j * KEYS + i_k')}]"
            mask = ["mask=j * KEYS + i_k < cols"] if ragged else []
            write.call(f"values[{made.values_at('i_w')}] = nl.load(", [source, *mask])
            if made.upright:
                one = f"nl.ones((KEYS, 1), dtype={held.dtype})"
                write.line(f"values[{made.values_at('width + i_1')}] = {one}")


def bring_queries(made: Chained) -> None:
    """A tile of rows with their depth on the partitions, times the number that scales scores."""
    mask = "m * P + {} < rows" if made.ragged_rows else ""
    fill = "nl.zeros" if mask else "nl.ndarray"
    slots = made.slots(made.query)
    shape = [f"({made.down}, {slots}, P)", f"dtype={made.query.dtype}"]
    made.writer.call(f"queries = {fill}(", shape)
    target = "queries[{}, {}, i_q]"
    _turned(made, made.query, "m * P", ("i_p", "i_q"), target, mask, made.scale)


def _turned(
    made: Chained, side: Side, start: str, index: tuple[str, str], target: str, mask: str,
    scale: str = "",
) -> None:  # fmt: skip
    """Bring tiles whose depth shall lie on the partitions; memory mostly has it along rows."""
    write, each = made.writer, made.each_stack(side)
    down, along = index
    for part in range(1 if made.own(side) else made.parts):
        with nest(write, each):
            into = target.format("i_s" if made.stack > 1 else "i_e", "s" if each else part)
            if side.turned:
                _strip(made, side, f"{start} + {down}", part, down, mask.format(down))
                write.call(f"{into} = {_from_psum(scale)}(", _told(scale))
                continue
            if each:
                made.name_head("s")
            source = f"{side.name}[{side.index(f'{start} + {along}', made.at(part, 'i_e'))}]"
            given = [f"mask={mask.format(along)}"] if mask else []
            write.call(f"{into} = nl.load(", [source, *given])


def _from_psum(scale: str) -> str:
    """The scalar engine can scale beside; else the vector engine copies, which has less to do."""
    return "nisa.activation" if scale else "nisa.tensor_copy"


def _told(scale: str) -> list[str]:
    if scale:
        return ["op=nl.copy", "data=nisa.nc_transpose(strip)", f"scale={scale}"]
    return ["nisa.nc_transpose(strip)", "engine=nisa.vector_engine"]


def _strip(made: Chained, side: Side, other: str, part: int, place: str, mask: str) -> None:
    """Load a tile as it lies in memory; of a stack of heads beside each other."""
    write, stack = made.writer, made.stack
    filled = bool(mask) or stack > 1
    if filled:
        size = "P" if side.other == "rows" else "KEYS"
        fill = "nl.zeros" if mask else "nl.ndarray"
        write.line(f"strip = {fill}(({size}, {made.down}), dtype={side.dtype})")
    with nest(write, f"for h in nl.static_range({stack}):" if stack > 1 else ""):
        if made.own(side):
            made.name_head(_which(made, side))
        source = f"{side.name}[{side.index(other, made.at(part, 'i_d'))}]"
        along = "h * D_TILE + i_d" if stack > 1 else "i_d"
        into = f"strip[{place}, {along}]" if filled else "strip"
        write.call(f"{into} = nl.load(", [source, *([f"mask={mask}"] if mask else [])])


def _which(made: Chained, side: Side) -> str:
    """Which of the heads is loaded: one of a stack, of one of the stacks."""
    if made.stack == 1:
        return "s"
    return f"s * {made.stack} + h" if made.each_stack(side) else "h"
