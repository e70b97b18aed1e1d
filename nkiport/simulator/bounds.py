"""Indices of one dimension: their spans, and what leaves it."""

from typing import Any

import numpy as np

from nkiport.simulator.errors import broken
from nkiport.simulator.index import Index, common_grid
from nkiport.simulator.storage import Bound, Slice, Storage


def out_of_bounds(storage: Storage, bound: Bound, low: int, high: int) -> Exception:
    """Return the finding of an index that leaves its dimension."""
    return broken(
        "err_tensor_access_out_of_bound",
        f"'{storage.name or storage.buffer}' dimension {bound.dimension}: index {low} to {high}",
        f"0 to {bound.size - 1}",
        "mask the tail (mask=index < size), or correct the trip count",
    )


def span_of(each: Any, limit: int) -> tuple[int, int, int, bool]:
    """Return start, size, step of one basic index, and whether the dimension stays."""
    if isinstance(each, Slice):
        return each.start, each.size, 1, True
    if isinstance(each, slice):
        step = 1 if each.step is None else each.step
        start = 0 if each.start is None else each.start
        stop = limit if each.stop is None else each.stop
        start, stop = (v + limit if v < 0 else v for v in (start, stop))
        if step <= 0:
            raise broken("err_unsupported_index", f"a slice of step {step}", "positive steps")
        return start, max(0, -(-(stop - start) // step)), step, True
    if isinstance(each, int | np.integer) and not isinstance(each, bool):
        number = int(each)
        return (number + limit if number < 0 else number), 1, 1, False
    raise broken(
        "err_unsupported_index", f"a tensor indexed by {type(each).__name__}",
        "integers, slices, nl.ds, nl.arange, nl.mgrid", "see the indexing rules of the dialect",
    )  # fmt: skip


def tight(indices: list[Any], first: int = 0) -> list[Any]:
    """The indices of a tensor without axes of their grid that are no dimensions of the tile.

    None of them runs along such an axis, and it has size 1, or lies before that of the partitions
    (the axis of the index at ``first``, if it is before all others). Partitions and one free
    dimension stay.
    """
    if not all(isinstance(each, Index) for each in indices):
        return indices
    used = {term.axis for each in indices for term in each.terms}
    ndim = max(each.ndim for each in indices)
    runs = min((term.axis for term in indices[first].terms), default=-ndim)
    partitions = runs if runs == min(used, default=0) else -ndim
    spare = sorted(
        axis for axis, size in common_grid(indices)
        if axis not in used and (axis < partitions or (size == 1 and axis > -ndim))
    )[: ndim - 2]  # fmt: skip
    return [each.without(frozenset(spare)) for each in indices]


def moved_left(index: Index, by: int) -> Index:
    """The same index with so many dimensions before it."""
    terms = tuple(t._replace(axis=t.axis - by) for t in index.terms)
    return Index(index.ndim + by, index.offset, terms)
