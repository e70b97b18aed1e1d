"""A chain that is being written, and how its operands come into SBUF."""

import math
from dataclasses import dataclass

from nkiport.lowering.chains import ChainPlan
from nkiport.lowering.fusion import Access
from nkiport.lowering.kernel import Body
from nkiport.lowering.matmul import Side
from nkiport.lowering.writer import Writer

BANK = 512
"""Numbers of fp32 in a PSUM bank: so much is copied out of PSUM at a time."""


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
    def together(self) -> int:
        """How many turned tiles of weights leave PSUM together."""
        most = max(1, BANK // self.plan.rows)
        tiles = math.ceil(self.plan.chain.scores.sizes[-1] / self.plan.keys)
        return most if self.causal else math.gcd(tiles, most)

    @property
    def loops(self) -> list[str]:
        """A loop for each batch dimension."""
        outer = range(len(self.plan.chain.scores.sizes) - 2)
        return [f"for o{n} in nl.affine_range(outer{n}):" for n in outer]

    @property
    def shared(self) -> int:
        """From which loop on keys and values stay the same: heads in a group share theirs."""
        return max(varies(self.key.access), varies(self.held.access))

    @property
    def hoisted(self) -> list[tuple[Body, Access]]:
        """What all rows share, and the kernel that reads it: loaded before the rows are walked."""
        bodies = (*(() if self.ragged_keys else (self.score,)), self.weight, self.value)
        return [(body, a) for body in bodies for a in body.names if a.strides[-2] == 0]


def varies(access: Access) -> int:
    """From which loop on an operand stays the same."""
    return max((n + 1 for n, step in enumerate(access.strides[:-2]) if step), default=0)


def bring_keys(made: Chained) -> None:
    """Keys with their depth on the partitions."""
    write, key = made.writer, made.key
    write.comment("The keys, their depth on the partitions.")
    room = "max(key_tiles * KEYS, n_tiles * N_TILE)" if made.ragged_keys else "key_tiles * KEYS"
    fill = "nl.zeros" if made.ragged_keys else "nl.ndarray"
    write.call(f"keys = {fill}(", [f"(D_TILE, {made.parts}, {room})", f"dtype={key.dtype}"])
    mask = "j * KEYS + {} < cols" if made.ragged_keys else ""
    with write.block("for j in nl.affine_range(key_tiles):"):
        _turned(made, key, "j * KEYS", ("i_k", "i_j"), "keys[i_e, {}, j * KEYS + i_j]", mask)


def bring_values(made: Chained) -> None:
    """Values with their keys on the partitions."""
    write, held = made.writer, made.held
    write.comment("The values, their keys on the partitions.")
    ragged = made.ragged_keys
    fill = "nl.zeros" if ragged else "nl.ndarray"
    write.call(f"values = {fill}(", ["(KEYS, key_tiles, width)", f"dtype={held.dtype}"])
    with write.block("for j in nl.affine_range(key_tiles):"):
        source = f"{held.name}[{held.index('i_w', 'j * KEYS + i_k')}]"
        mask = ["mask=j * KEYS + i_k < cols"] if ragged else []
        write.call("values[i_k, j, i_w] = nl.load(", [source, *mask])


def bring_queries(made: Chained) -> None:
    """A tile of rows with their depth on the partitions, times the number that scales scores."""
    mask = "m * P + {} < rows" if made.ragged_rows else ""
    fill = "nl.zeros" if mask else "nl.ndarray"
    shape = [f"(D_TILE, {made.parts}, P)", f"dtype={made.query.dtype}"]
    made.writer.call(f"queries = {fill}(", shape)
    target = "queries[i_e, {}, i_q]"
    _turned(made, made.query, "m * P", ("i_p", "i_q"), target, mask, made.scale)


def _turned(
    made: Chained, side: Side, start: str, index: tuple[str, str], target: str, mask: str,
    scale: str = "",
) -> None:  # fmt: skip
    """Bring a tile whose depth shall lie on the partitions; memory mostly has it along rows."""
    write = made.writer
    down, along = index
    size = "P" if side.other == "rows" else "KEYS"
    for part in range(made.parts):
        into = target.format(part)
        if not side.turned:
            source = f"{side.name}[{side.index(f'{start} + {along}', f'{part} * D_TILE + i_e')}]"
            given = [f"mask={mask.format(along)}"] if mask else []
            write.call(f"{into} = nl.load(", [source, *given])
            continue
        source = f"{side.name}[{side.index(f'{start} + {down}', f'{part} * D_TILE + i_d')}]"
        if mask:
            write.line(f"strip = nl.zeros(({size}, D_TILE), dtype={side.dtype})")
            write.call(f"strip[{down}, i_d] = nl.load(", [source, f"mask={mask.format(down)}"])
        else:
            write.call("strip = nl.load(", [source])
        scaled = [f"scale={scale}"] if scale else []
        write.call(
            f"{into} = nisa.activation(", ["op=nl.copy", "data=nisa.nc_transpose(strip)", *scaled]
        )
