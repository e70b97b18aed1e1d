"""Reductions under a mask: what it leaves out does not count; empty rows have no result."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from nkiport.nki import Op
from nkiport.nki.dtypes import Array
from nkiport.simulator.errors import broken
from nkiport.simulator.index import Box, Index, Mask, Term
from nkiport.simulator.memory import Tile

Arrays = dict[str, Array]


class Part(NamedTuple):
    """The part of an instruction's operands that it works on, if it has the result's shape too."""

    shape: tuple[int, ...]
    box: Box | None = None

    def whole(self, values: Any) -> Any:
        """A result of the part at its place in the shape of all; the rest is for the mask."""
        if values is None or self.box is None:
            return values
        result = np.zeros(self.shape, np.asarray(values).dtype)
        result[self.box] = values
        return result


def reduced_part(
    op: Op, arrays: Arrays, undefined: Arrays, mask: Mask | None, others: Mapping[str, Any]
) -> Part | None:
    """Cut the operands of a reduction down to what a mask leaves.

    To a rectangle where it is one, or else to a masked array.
    """
    if mask is None or not op.reduces:
        return None
    name, values = next(iter(arrays.items()))
    whole = Part(values.shape)
    box = mask.box(values.shape)
    if box is not None:
        box = (slice(0, values.shape[0]), *box[1:])  # rows are left out of the result
        if op.keeps_shape or not _cuts(box, values.shape, reduced_axes(op, others, values.ndim)):
            for each in (arrays, undefined):
                each.update({n: _cut(v, box, values.shape) for n, v in each.items()})
            return Part(values.shape, box) if op.keeps_shape else whole
    if "axis" in op.parameters:
        dense = mask.over(values.shape)
        arrays[name] = np.ma.array(values, mask=~dense)
        if name in undefined:
            undefined[name] = undefined[name] & dense
    elif not op.keeps_shape or "reduce_res" in arrays or "reduce_cmd" in others:
        raise broken(
            "err_unsupported_expression_in_mask", f"{op.key} under a mask of two axes",
            "whole rows or columns", "replace the masked elements first (nl.where)",
        )  # fmt: skip
    return whole


def reduced_axes(op: Op, others: Mapping[str, Any], ndim: int) -> frozenset[int]:
    """The dimensions that a reduction takes away: those of its ``axis``, or all free ones."""
    if "axis" not in op.parameters:
        return frozenset(range(1, ndim))
    axis = others.get("axis", -1)
    return frozenset(each % ndim for each in (axis if isinstance(axis, tuple | list) else (axis,)))


def _cuts(box: Box, shape: tuple[int, ...], reduced: frozenset[int]) -> bool:
    """Whether a box leaves something out along a dimension that stays."""
    return any(
        each.stop - each.start < size and axis not in reduced
        for axis, (each, size) in enumerate(zip(box, shape, strict=True))
    )


def _cut(values: Array, box: Box, shape: tuple[int, ...]) -> Array:
    if values.ndim != len(shape):
        return values
    sizes = zip(box, values.shape, shape, strict=True)
    return values[tuple(b if size == full else slice(None) for b, size, full in sizes)]


def held(op: Op, mask: Mask, of: tuple[int, ...], result: tuple[int, ...],
         others: Mapping[str, Any]) -> Array:  # fmt: skip
    """Where a result under a mask is written: where anything of what it reduces is left."""
    if op.turns:
        moved: Array = op.run(mask.over(of))
        return moved
    if not op.reduces or op.keeps_shape:
        return mask.over(result)
    axes = tuple(reduced_axes(op, others, len(of)))
    rows = np.asarray(mask.over(of).any(axis=axes))
    if rows.size != np.prod(result):
        rows = rows.reshape(len(rows), *(1,) * (len(result) - 1))
        return np.broadcast_to(rows, result)
    return rows.reshape(result)


def matmul_parts(
    op: Op, tiles: Mapping[str, Tile], others: Mapping[str, Any], mask: Mask | None
) -> tuple[dict[str, Tile], dict[str, Mask | None], Mask | None]:
    """Multiply whole tiles, where masks in the brackets leave a part of the product.

    Returns the tiles, the masks under which they are read, and that of the product.
    """
    if not any(tile.part_of for tile in tiles.values()):
        return dict(tiles), dict.fromkeys(tiles, mask), mask
    given = {name: tile.part_of or (tile, mask) for name, tile in tiles.items()}
    (left, only), (right, also) = given.values()
    rows = 1 - _depth(op, others)
    boxes = [
        each.box(tile.shape) if each is not None else tuple(slice(0, n) for n in tile.shape)
        for tile, each in ((left, only), (right, also))
    ]
    if None in boxes:
        raise broken(
            "err_unsupported_expression_in_mask", "an operand under a mask of two axes",
            "a mask that selects whole rows or columns",
        )  # fmt: skip
    sizes = (left.shape[rows], *right.shape[1:])
    product = Mask(()) if mask is None else mask
    for axis, (size, kept) in enumerate(
        zip(sizes, (boxes[0][rows], *boxes[1][1:]), strict=True)  # type: ignore[index]
    ):
        at = Index(len(sizes), 0, (Term(axis - len(sizes), size, 1),))
        product = product & (at >= kept.start) & (at < kept.stop)
    whole = {name: tile for name, (tile, _) in given.items()}
    return whole, {name: each for name, (_, each) in given.items()}, product


def _depth(op: Op, others: Mapping[str, Any]) -> int:
    """The dimension of a multiply's first operand that it sums over."""
    return 1 if op.name == "matmul" and not others.get("transpose_x") else 0


def leave_out(
    op: Op, arrays: Arrays, undefined: Arrays, cuts: Mapping[str, Mask | None],
    others: Mapping[str, Any],
) -> None:  # fmt: skip
    """Put zeros where masks of its operands leave elements out of a multiply's sums."""
    if not cuts:
        return
    depths = dict(zip(arrays, (_depth(op, others), 0), strict=True))
    for name, mask in cuts.items():
        if mask is None:
            continue
        box, depth = mask.box(arrays[name].shape), depths[name]
        for other, axis in depths.items():
            kept = np.zeros(arrays[other].shape, np.bool_)
            kept[(slice(None),) * axis + (box[depth],)] = True  # type: ignore[index]
            arrays[other] = np.where(kept, arrays[other], 0)
            if other in undefined:
                undefined[other] = undefined[other] & kept


def rows_of(mask: Mask, of: tuple[int, ...], ndim: int) -> Mask | None:
    """The mask of what a reduction writes beside its result: its rows."""
    box = mask.box(of)
    rows = box[0] if box else slice(0, of[0])
    if rows == slice(0, of[0]):
        return None
    at = Index(ndim, 0, (Term(-ndim, of[0], 1),))
    return (at >= rows.start) & (at < rows.stop)
