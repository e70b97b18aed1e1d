"""Searching rows: the eight largest values, where they are, and what stands there instead."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nkiport.nki import costs
from nkiport.nki.dtypes import Array
from nkiport.nki.op import Call, Problem, Table
from nkiport.nki.ops.samples import tile
from nkiport.nki.targets import Target

SEARCH = Table("vector")
AT_ONCE = 8
MOST = 16384
NOWHERE = 2**32 - 1
"""The index of a value that is not there: all bits set."""


def _row_length(call: Call, _target: Target) -> Iterator[Problem]:
    data = next(iter(call.operands.values()))
    if not AT_ONCE <= data.free <= MOST:
        yield Problem(
            "err_free_size", f"rows of {data.free} elements", f"{AT_ONCE} to {MOST}",
            "search the row in parts",
        )  # fmt: skip


def _eight_values(call: Call, target: Target) -> Iterator[Problem]:
    yield from _row_length(call, target)
    vals = call.operands["vals"]
    if vals.free != AT_ONCE:
        yield Problem("err_shape_mismatch", f"{vals.free} values a row", f"{AT_ONCE}")


def _row_and_values(rng: np.random.Generator) -> dict[str, Any]:
    data = tile(rng)
    return {"data": data, "vals": data[:, [3, 1, 4, 15, 9, 2, 6, 5]]}


def _rows(values: Array) -> Array:
    return values.reshape(values.shape[0], -1)


@SEARCH.op(
    "nisa",
    cost=costs.streamed,
    check=_row_length,
    sample=lambda rng: {"src": tile(rng)},
    result_dtype="first",
)
def max8(src: Array) -> Array:
    """Find the eight largest values of each row, the largest first."""
    return np.sort(_rows(src), axis=1)[:, : -AT_ONCE - 1 : -1]


def _places(data: Array, vals: Array) -> Array:
    """Where each value first is; ``NOWHERE`` where it is not."""
    found = _rows(data)[:, None, :] == _rows(vals)[:, :, None]
    return np.where(found.any(axis=2), found.argmax(axis=2), NOWHERE).astype(np.uint32)


@SEARCH.op(
    "nisa",
    cost=costs.streamed,
    check=_eight_values,
    sample=_row_and_values,
    result_dtype="values",
)
def nc_find_index8(data: Array, vals: Array) -> Array:
    """Find where each of eight values of a row is first."""
    return _places(data, vals)


@SEARCH.op(
    "nisa",
    cost=costs.streamed,
    check=_eight_values,
    sample=lambda rng: {**_row_and_values(rng), "imm": 0.0},
    result_dtype="first",
    writes=("dst_idx",),
)
def nc_match_replace8(
    data: Array, vals: Array, imm: float, dst_idx: Array | None = None
) -> tuple[Array, Array | None]:
    """Replace the first match of each of eight values of a row, one after the other."""
    result, rows = _rows(data).copy(), np.arange(len(data))
    places = np.full((len(data), AT_ONCE), NOWHERE, np.uint32)
    for turn in range(AT_ONCE):
        found = result == _rows(vals)[:, turn : turn + 1]
        there = found.any(axis=1)
        at = found.argmax(axis=1)
        places[there, turn] = at[there]
        result[rows[there], at[there]] = imm
    return result.reshape(data.shape), None if dst_idx is None else places
