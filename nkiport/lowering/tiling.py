"""The third pass: how large the tiles are, from the target's limits and what is alive at once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nkiport.lowering.fusion import Access, Group
from nkiport.lowering.ir import FP32_BYTES, Program, Use, item_bytes
from nkiport.lowering.recurrent import RecurrentPlan, recurrent_plan
from nkiport.lowering.respace import respaced
from nkiport.lowering.rules import SOLO
from nkiport.lowering.tuning import Tuning
from nkiport.lowering.window_tiling import WindowPlan, window_plan
from nkiport.nki import Target

BUFFERS = 2
"""A tile is loaded while the one before it is worked on, so everything is there twice."""


@dataclass(frozen=True)
class RowPlan:
    """Tiles of a group without a base: all partitions by ``columns``.

    ``resident`` says that a whole row stays in SBUF, so that every operand is read once; else the
    columns are walked in tiles, once for each level of reductions and once to write.
    """

    group: Group
    columns: int
    resident: bool
    alive: int
    """Tiles of that width alive at once."""
    limit: int
    """The most columns that fit a partition at that count."""


@dataclass(frozen=True)
class MatmulPlan:
    """Tiles of a group on a matmul: ``rows`` by ``columns`` of the result, ``depth`` of K at once.

    One operand stays in SBUF, turned so that K is on the partitions, while the other passes by.
    """

    group: Group
    rows: int
    columns: int
    depth: int
    turn: int
    """Columns of the right operand that are turned at once."""
    held: Literal["rows", "cols"]
    """The operand that stays, by its size that is not K: the left has rows, the right columns."""
    block: int
    """How many of its tiles stay at a time; 0 says that K is too long for that, and both operands
    are read again for every tile of the result."""


@dataclass(frozen=True)
class SoloPlan:
    """A kernel of one operation that moves data or walks along it: rows by ``columns``."""

    group: Group
    columns: int


Plan = RowPlan | MatmulPlan | WindowPlan | SoloPlan | RecurrentPlan


def tile(program: Program, group: Group, target: Target, tuning: Tuning) -> Plan:
    """The plan of a group."""
    base = group.base
    if base is None:
        return _row_plan(_folded(group, target, tuning.fold), target, tuning.stream_columns)
    if base.kind == "matmul":
        return _matmul_plan(program, group, target, tuning)
    if base.kind == "recurrence":
        return recurrent_plan(group, target)
    if base.kind in SOLO:
        return SoloPlan(group, tuning.stream_columns)
    return window_plan(program, group, target, tuning)


def oversized(plans: Sequence[object], target: Target) -> tuple[str, ...]:
    """Plans whose tiles pass what a partition of the target holds."""
    return tuple(
        f"{plan.group.name}: {plan.columns} columns x {plan.alive} tiles"
        for plan in plans
        if isinstance(plan, RowPlan)
        and plan.columns * plan.alive * BUFFERS * FP32_BYTES > target.sbuf_bytes
    )


def _row_plan(group: Group, target: Target, stream: int) -> RowPlan:
    columns = group.sizes[-1]
    alive = most_alive(group)
    limit = target.sbuf_bytes // (FP32_BYTES * BUFFERS * alive)
    if columns <= (limit if group.reduces else min(limit, stream)):
        return RowPlan(group, columns, resident=True, alive=alive, limit=limit)
    wide = min(stream, 1 << (limit.bit_length() - 1))
    return RowPlan(group, wide, resident=False, alive=alive, limit=limit)


def _folded(group: Group, target: Target, columns: int | None) -> Group:
    """The group over rows of so many columns, if its elements lie so that no one can tell."""
    rows, rest = divmod(math.prod(group.sizes), columns or 1)
    if columns is None or rest or group.reduces or rows < target.partitions:
        return group
    return respaced(group, (rows, columns)) or group


def most_alive(group: Group) -> int:
    """How many full-width tiles a straight run through the group holds at its worst moment."""
    tiles = [[_tile_of(group, use) for use in op.uses] for op in group.ops]
    last = {tile: step for step, used in enumerate(tiles) for tile in used}
    for step, op in enumerate(group.ops):
        last.setdefault(group.results[op.name], step)
    alive, worst = {tile for tile in last if _shared(tile)}, 1
    for step, op in enumerate(group.ops):
        alive |= {*tiles[step], group.results[op.name]}
        worst = max(worst, sum(tile.strides[-1] != 0 for tile in alive))
        alive = {tile for tile in alive if last[tile] > step or _shared(tile)}
    return worst


def _tile_of(group: Group, use: Use) -> Access:
    return group.reads[use] if use in group.reads else group.results[use.value]


def _shared(tile: Access) -> bool:
    """Whether all rows share it, so that it is loaded once and kept."""
    return tile.strides[-2] == 0


def _matmul_plan(program: Program, group: Group, target: Target, tuning: Tuning) -> MatmulPlan:
    """The smaller operand stays whole if it fits, so that both are read and turned once.

    Else as much of it stays as fits, and the tiles that pass by are narrow to leave room for it.
    """
    op = group.base
    assert op is not None  # noqa: S101 - the caller chose by it
    *outer, rows, cols = op.shape
    high = _few(rows, target.stationary_fmax)
    if group.reduces:
        return _rowed_plan(group, target)
    tiles = math.prod(outer) * math.ceil(rows / high)
    held: Literal["rows", "cols"] = "rows" if rows <= cols else "cols"
    most = min(target.moving_fmax, tuning.product_columns)
    wide = _turnable(cols, _columns(tiles, cols, most), target)
    narrow = _turnable(cols, min(most, target.partitions), target)
    for columns in (wide, narrow):
        tile = high if held == "rows" else columns
        whole = math.ceil(min(rows, cols) / tile)
        fit = _tiles_that_fit(program, group, target, (high, columns), held)
        kept = min(whole, fit, whole if tuning.held_tiles is None else tuning.held_tiles)
        if kept == whole:
            break
    block = next((n for n in range(kept, 0, -1) if whole % n == 0), 0)
    turn = even(columns, target.partitions)
    depth = _few(op.uses[0].shape[-1], target.partitions)
    return MatmulPlan(group, high, columns, depth, turn, held, block)


def _rowed_plan(group: Group, target: Target) -> MatmulPlan:
    """The right operand stays whole, so that each tile of rows has all its columns at once."""
    op = group.base
    assert op is not None  # noqa: S101 - the plan is a matmul's
    *_, rows, cols = op.shape
    columns = _turnable(cols, target.moving_fmax, target)
    depth = _few(op.uses[0].shape[-1], target.partitions)
    turn = even(columns, target.partitions)
    high = _few(rows, target.stationary_fmax)
    return MatmulPlan(group, high, columns, depth, turn, "cols", math.ceil(cols / columns))


def rows_fit(program: Program, group: Group, target: Target) -> bool:
    """Whether a product's right operand fits SBUF beside whole rows of what follows the product."""
    op = group.base
    assert op is not None  # noqa: S101 - the group is on a matmul
    plan = _rowed_plan(group, target)
    cols = op.shape[-1]
    if cols % plan.columns:
        return False
    after = replace(group, ops=tuple(each for each in group.ops if each is not op))
    item = max(item_bytes(program.dtype_of(use.value)) for use in op.uses)
    size = op.uses[0].shape[-1]
    column = math.ceil(size / plan.depth) * item
    passing = (
        column * plan.rows + min(size, STRIP) * item + (most_alive(after) + 1) * cols * FP32_BYTES
    )
    return column * cols + BUFFERS * passing <= target.sbuf_bytes


def _few(size: int, most: int) -> int:
    """The size of equal tiles, where that takes no more of them; else ``most``, the last smaller.

    A product takes as long for a tile of fewer rows, or of a part of K that is smaller.
    """
    fewest = math.ceil(size / most)
    return size // fewest if size % fewest == 0 else most


def _turnable(cols: int, most: int, target: Target) -> int:
    """Equal tiles of columns; of whole transposes where they could not be cut into equal ones."""
    columns = even(cols, most)
    if columns % even(columns, target.partitions) == 0:
        return columns
    return min(most, target.partitions * math.ceil(cols / target.partitions))


def _columns(tiles: int, cols: int, most: int) -> int:
    """The columns of a tile of the result.

    Fewer where there are so few tiles of rows that what follows a product had no other beside it.
    """
    choices = (most >> by for by in range(most.bit_length()) if most >> by >= NARROW)
    return next((n for n in choices if tiles * math.ceil(cols / n) >= BESIDE), min(most, NARROW))


BESIDE = 8
"""Tiles of a result from which on each has the products of others beside what follows it."""
NARROW = 128
"""Columns below which a product is no shorter: loading its other side takes as long."""


def _tiles_that_fit(
    program: Program, group: Group, target: Target, tile: tuple[int, int], held: str
) -> int:
    """How many tiles of an operand fit SBUF with all of K, beside tiles of the other.

    They are there once: a block that waits for the room of the one before it costs less than to
    turn the other operand again for more blocks.
    """
    op = group.base
    assert op is not None  # noqa: S101 - the plan is a matmul's
    item = max(item_bytes(program.dtype_of(use.value)) for use in op.uses)
    depth = op.uses[0].shape[-1]
    column = math.ceil(depth / _few(depth, target.partitions)) * item
    sizes = tile if held == "rows" else tile[::-1]
    passing = column * sizes[1] + min(depth, STRIP) * item + _epilogue_bytes(group, tile[1])
    shared = sum(access.strides[-2] == 0 for access in {*group.reads.values()})
    kept = sizes[0] * (column + (2 * FP32_BYTES * shared if held == "cols" else 0))
    return max(0, (target.sbuf_bytes - BUFFERS * passing) // kept)


STRIP = 1024
"""The most of K that is loaded at once to be turned: 4 KiB of fp32, from which on DMA is quick."""


def _epilogue_bytes(group: Group, columns: int) -> int:
    """What the tiles after the product take: one for each operation and operand."""
    return (len(group.ops) + len(group.reads)) * columns * FP32_BYTES


def even(size: int, most: int) -> int:
    """The size of equal tiles of at most so many; ``most`` if the last one must be smaller.

    >>> even(256, 128), even(70, 128), even(300, 128), even(197, 128)
    (128, 70, 100, 128)
    """
    fewest = math.ceil(size / most)
    parts = next((n for n in range(fewest, 2 * fewest + 1) if size % n == 0), None)
    return size // parts if parts else most
