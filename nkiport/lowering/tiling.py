"""The third pass: how large the tiles are, from the target's limits and what is alive at once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nkiport.lowering.fusion import Access, Group
from nkiport.lowering.ir import Program, Use, item_bytes
from nkiport.lowering.recurrent import RecurrentPlan, recurrent_plan
from nkiport.lowering.respace import respaced
from nkiport.lowering.rules import REDUCTIONS, SOLO
from nkiport.lowering.tuning import Tuning
from nkiport.lowering.window_tiling import WindowPlan, window_plan
from nkiport.nki import Target

FP32_BYTES = 4
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
    """Tiles of a group on a matmul.

    ``block`` row tiles of the left operand stay in SBUF, turned so that K is on the partitions,
    while the columns of the right operand pass by; 0 says that K is too long for that, and both
    operands are read again for every tile of the result.
    """

    group: Group
    block: int
    columns: int | None = None
    """The most columns of a tile of the result, whole transposes; None for all a product takes."""


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
    reduces = any(op.kind in REDUCTIONS for op in group.ops)
    if columns <= (limit if reduces else min(limit, stream)):
        return RowPlan(group, columns, resident=True, alive=alive, limit=limit)
    wide = min(stream, 1 << (limit.bit_length() - 1))
    return RowPlan(group, wide, resident=False, alive=alive, limit=limit)


def _folded(group: Group, target: Target, columns: int | None) -> Group:
    """The group over rows of so many columns, if its elements lie so that no one can tell."""
    rows, rest = divmod(math.prod(group.sizes), columns or 1)
    along = any(op.kind in REDUCTIONS for op in group.ops)
    if columns is None or rest or along or rows < target.partitions:
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
    op = group.base
    assert op is not None  # noqa: S101 - the caller chose by it
    item = max(item_bytes(program.dtype_of(use.value)) for use in op.uses)
    depth = math.ceil(op.uses[0].shape[-1] / target.partitions)
    left = depth * target.stationary_fmax * item
    columns = min(target.moving_fmax, tuning.product_columns)
    right = depth * columns * item
    strips = 2 * depth * target.partitions * item
    room = target.sbuf_bytes // BUFFERS - right - strips - _epilogue_bytes(group, target)
    block = min(tuning.row_tiles, max(0, room // left))
    return MatmulPlan(
        group,
        1 << (block.bit_length() - 1) if block else 0,
        columns if columns < target.moving_fmax else None,
    )


def _epilogue_bytes(group: Group, target: Target) -> int:
    """What the tiles after the product take: one for each operation and operand."""
    return (len(group.ops) + len(group.reads)) * target.moving_fmax * FP32_BYTES
