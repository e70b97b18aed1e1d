"""What an instruction is given, and the sizes its cost is computed from."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from nkiport.nki import Call, Op, Work
from nkiport.nki.checks import fits
from nkiport.nki.dtypes import (
    Array,
)
from nkiport.nki.functions import BITS
from nkiport.simulator.bounds import tight
from nkiport.simulator.index import Index, Mask
from nkiport.simulator.memory import Tile


def call_of(tiles: Mapping[str, Tile], others: Mapping[str, Any]) -> Call:
    """What an operation is called with, as the checks read it."""
    values = {name: plain(each) for name, each in others.items()}
    return Call({name: tile.operand() for name, tile in tiles.items()}, values)


def plain(value: Any) -> Any:
    """An argument as an operation's ``run`` takes it."""
    if not isinstance(value, TURNED):
        return value
    if isinstance(value, Index):
        return tight([value])[0].values()
    if isinstance(value, Mask):
        return value.values()
    return np.float32(value)


TURNED = (Index, Mask, np.generic)
"""Types of arguments that ``run`` takes as others."""


def is_exact(op: Op, others: Mapping[str, Any]) -> bool:
    """Whether the values keep their type: of some instructions, and of all that work on bits."""
    if op.exact:
        return True
    return any(others.get(each) in BITS for each in OPERATORS)


OPERATORS = ("op", "op0", "reduce_op")
"""Arguments that name what an instruction does to the elements."""


def same_place(a: Tile, b: Tile) -> bool:
    """Whether two tiles view the same elements."""
    return (a.storage is b.storage) and (a.offset, a.shape, a.strides) == (
        b.offset, b.shape, b.strides,
    )  # fmt: skip


def spread(
    op: Op, values: Mapping[str, Any], undefined: Mapping[str, Array],
    arrays: Mapping[str, Array], main: Any,
) -> Array | None:  # fmt: skip
    """Where a result depends on elements nobody wrote: as finely as shapes tell."""
    if not undefined:
        return None
    if op.turns or op.kind == "matmul":
        return _moved(op, values, undefined, arrays)
    shape = np.shape(main)
    out = np.zeros(shape, np.bool_)
    for name, left in undefined.items():
        if left.ndim <= len(shape) and fits(left.shape, shape) and left.size <= out.size:
            out |= left
        elif left.shape == shape[::-1]:
            out |= left.T
        elif left.shape[0] == shape[0] and arrays[name].shape[0] == shape[0]:
            rows = left.reshape(left.shape[0], -1).any(axis=1)
            out |= rows.reshape(-1, *(1,) * (len(shape) - 1))
        else:
            out[...] = True
    return out


def _moved(
    op: Op, values: Mapping[str, Any], undefined: Mapping[str, Array], arrays: Mapping[str, Array]
) -> Array:
    """Where an instruction that only moves or multiplies takes the elements nobody wrote."""
    moves = op.turns or bool(values.get("is_transpose"))
    others = {n: a if moves else np.ones(a.shape, np.float32) for n, a in arrays.items()}
    found = [
        op.run(**values, **{**others, name: left.astype(np.float32)}) != 0
        for name, left in undefined.items()
    ]
    result: Array = np.logical_or.reduce(found)
    return result


def work_of(
    op: Op, tiles: Mapping[str, Tile], others: Mapping[str, Any], main: Any
) -> tuple[Work, int]:
    """The sizes an instruction's cost is computed from, and its partitions."""
    if op.kind == "matmul":
        first, second = tiles.values()
        transposed = op.name == "matmul" and not others.get("transpose_x", False)
        depth = first.shape[1] if transposed else first.shape[0]
        columns = first.shape[0] if transposed else first.size // first.shape[0]
        name = "turned" if transposed else ""
        work = Work(second.size // second.shape[0], columns, second.dtype, name=name)
        return work, depth
    sizes = [(t.size // max(1, t.shape[0]), t) for t in tiles.values()] if tiles else []
    shape: tuple[int, ...] = np.shape(main) if main is not None else ()
    free = max([size for size, _ in sizes] + [math.prod(shape[1:])])
    lead = max((t for _, t in sizes), key=lambda t: t.size, default=None)
    dtype = lead.dtype if lead is not None else np.asarray(main).dtype
    rows = lead.shape[0] if lead is not None else shape[0]
    moved = max((t.size * t.itemsize for t in tiles.values()), default=0)
    wide = sum(1 for size, _ in sizes if size == free and free > 1)
    name = others.get("op", op.name)
    return (
        Work(
            free, rows, dtype, moved, max(1, wide),
            all(t.buffer == "sbuf" for t in tiles.values()), name if isinstance(name, str) else "",
        ),
        rows,
    )  # fmt: skip
