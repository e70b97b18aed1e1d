"""Tensors that are made of nothing, and tensors that are put together from others."""

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from nkiport.contracts.base import DType
from nkiport.contracts.graph import Node
from nkiport.lowering.builder import Builder, Operand, cut, expand, unsqueeze
from nkiport.lowering.ir import (
    Assembly,
    Literal,
    Op,
    Piece,
    Shape,
    Span,
    Use,
    dense_strides,
    literal,
)
from nkiport.lowering.rules.rule import Result, Rule


def span(b: Builder, size: int, start: float = 0, step: float = 1, dtype: Any = "float32") -> Use:
    """The numbers start, start + step, ...; a kernel of its own makes them."""
    dims = (literal(size),)
    return b.add(Op(f"{b.node}_span", "span", (), dims, dtype, detail=Span(start, step)))


def assemble(
    b: Builder, node: Node, shape: Shape, parts: Sequence[tuple[Operand, Sequence[int]]],
    steps: Sequence[int] | None = None, more: Sequence[Piece] = (),
) -> Use:  # fmt: skip
    """Put parts, each with the place of its first element, together into one tensor.

    ``steps`` are how far apart a part's neighbours come to lie. A number fills the box whose shape
    follows its place in ``parts``; ``more`` are pieces of numbers.
    """
    dtype = b.kind(node.dtype)
    parts = [(_as(b, use, dtype), place) for use, place in parts]
    strides = dense_strides(shape)
    wide = tuple(s * t for s, t in zip(strides, steps or (1,) * len(shape), strict=True))
    pieces = (*(_piece(use, place, strides, wide) for use, place in parts), *more)
    uses = tuple(use for use, _ in parts if isinstance(use, Use))
    dims = tuple(literal(size) for size in shape)
    return b.add(Op(node.name, "assembly", uses, dims, dtype, detail=Assembly(pieces)))


def _as(b: Builder, use: Operand, dtype: DType) -> Operand:
    """A copy moves bytes: an operand of another dtype is cast before."""
    if not isinstance(use, Use) or b.dtypes[use.value] == dtype:
        return use
    return b.elementwise("cast", use, dtype=dtype, name=f"{b.node}_part")


def _piece(
    use: Operand, place: Sequence[int], strides: Sequence[int], wide: Sequence[int]
) -> Piece:
    rank = len(strides)
    offset = sum(p * s for p, s in zip(place[:rank], strides, strict=True))
    if isinstance(use, Use):
        return Piece(use.shape, offset, tuple(wide))
    return Piece(tuple(place[rank:]), offset, tuple(strides), float(use))


def _cat(b: Builder, node: Node, uses: Sequence[Use], axis: int = 0) -> Result:
    parts = [use for use in uses if use.shape != (0,)]
    axis %= len(node.shape)
    starts = accumulate((use.shape[axis] for use in parts[:-1]), initial=0)
    places = [[start if at == axis else 0 for at in range(len(node.shape))] for start in starts]
    return assemble(b, node, node.shape, list(zip(parts, places, strict=True)))


def _stack(b: Builder, node: Node, uses: Sequence[Use], axis: int = 0) -> Result:
    return _cat(b, node, [unsqueeze(use, [axis % len(node.shape)]) for use in uses], axis)


def pad(b: Builder, node: Node, x: Use, low: Shape, high: Shape, value: float) -> Use:
    """The tensor with a border of one number on each side; where a border is negative, cut."""
    for axis, (before, after) in enumerate(zip(low, high, strict=True)):
        start, end = max(-before, 0), x.shape[axis] - max(-after, 0)
        if (start, end) != (0, x.shape[axis]):
            x = cut(x, axis, start, end - start)
    low, high = (tuple(max(each, 0) for each in side) for side in (low, high))
    if not any((*low, *high)):
        return x
    shape = tuple(a + size + z for a, size, z in zip(low, x.shape, high, strict=True))
    parts = [(x, low), *_borders(x.shape, low, high, shape, value)]
    return assemble(b, node, shape, parts)


def _borders(
    inner: Shape, low: Shape, high: Shape, shape: Shape, value: float
) -> list[tuple[Operand, Sequence[int]]]:
    """Boxes around the tensor: axis by axis, within what the axes before left."""
    found: list[tuple[Operand, Sequence[int]]] = []
    for axis, (before, after) in enumerate(zip(low, high, strict=True)):
        for size, start in ((before, 0), (after, before + inner[axis])):
            if size:
                place = (*low[:axis], start, *(0 for _ in shape[axis + 1 :]))
                found.append((value, (*place, *inner[:axis], size, *shape[axis + 1 :])))
    return found


def _constant_pad(
    b: Builder, node: Node, x: Use, widths: Sequence[int], value: float = 0
) -> Result:
    """Widths come in pairs, the last axis first."""
    rank = len(x.dims)
    low, high = [0] * rank, [0] * rank
    for pair in range(len(widths) // 2):
        low[rank - 1 - pair], high[rank - 1 - pair] = widths[2 * pair], widths[2 * pair + 1]
    return pad(b, node, x, tuple(low), tuple(high), value)


def _slice_scatter(
    b: Builder, node: Node, x: Use, source: Use, axis: int = 0, start: int | None = None,
    end: int | None = None, step: int = 1,
) -> Result:  # fmt: skip
    """What lies before, the new slice, and what lies behind."""
    places = range(x.shape[axis])[start:end:step]
    if step != 1:
        return _combed(b, node, x, source, axis % len(x.dims), places)
    size = x.shape[axis]
    parts = [source]
    if places.start:
        parts.insert(0, cut(x, axis, 0, places.start))
    if places.stop < size:
        parts.append(cut(x, axis, places.stop, size - places.stop))
    return _cat(b, node, parts, axis)


def _combed(b: Builder, node: Node, x: Use, source: Use, axis: int, places: range) -> Use:
    """Every step-th place is new; the places between them are a comb each."""
    step, size, parts = places.step, x.shape[axis], [(source, places)]
    for first in range(step):
        old = [at for at in range(first, size, step) if at not in places]
        sides = ([at for at in old if at < places.start], [at for at in old if at > places.start])
        parts += [(cut(x, axis, s[0], len(s), step), range(s[0], s[-1] + 1)) for s in sides if s]
    at_axis = [(use, [r.start if a == axis else 0 for a in range(len(x.dims))]) for use, r in parts]
    steps = [step if a == axis else 1 for a in range(len(x.dims))]
    return assemble(b, node, x.shape, at_axis, steps)


def _copied(b: Builder, node: Node, _x: Use, source: Operand, *_: Any) -> Result:
    """The values of the source, in the shape and dtype of what they are written over."""
    if not isinstance(source, Use):
        return filled(b, node.shape, source, node.dtype)
    return expand(_as_use(b, source, node.dtype), node.shape)


def _as_use(b: Builder, use: Use, dtype: DType) -> Use:
    cast = _as(b, use, b.kind(dtype))
    assert isinstance(cast, Use)  # noqa: S101 - a cast of a tensor is a tensor
    return cast


def _numbers(b: Builder, node: Node, values: Sequence[Literal]) -> Result:
    """A tensor that the program writes out, in row-major order.

    Neighbours that are equal, or that rise by 1, are one piece.
    """
    flat = [float(each) for each in values]
    if len(set(flat)) == 1:
        return filled(b, node.shape, flat[0], node.dtype)
    runs = list(_number_runs(flat))
    if len(runs) > MOST_PIECES:
        raise NotImplementedError(f"{node.name}: {len(runs)} numbers; at most {MOST_PIECES}")
    rising = [flat[at] for at, count, rises in runs if rises]
    parts: list[tuple[Operand, Sequence[int]]] = []
    if rising:
        low, high = min(rising), max(flat[at] + n - 1 for at, n, rises in runs if rises)
        line = span(b, int(high - low) + 1, low, 1, b.kind(node.dtype))
    for at, count, rises in runs:
        box = cut(line, 0, int(flat[at] - low), count) if rises else flat[at]
        parts.append((box, (at,) if rises else (at, count)))
    return b.view(assemble(b, node, (len(flat),), parts), node.shape)


def _number_runs(flat: Sequence[float]) -> Iterator[tuple[int, int, bool]]:
    """Where each run of equal numbers, or of numbers that rise by 1, starts; its length; which."""
    at = 0
    while at < len(flat):
        same, rise = (_run(flat, at, step) for step in (0, 1))
        yield at, max(same, rise), rise > same
        at += max(same, rise)


def _run(flat: Sequence[float], at: int, step: int) -> int:
    count = 1
    while at + count < len(flat) and flat[at + count] == flat[at] + count * step:
        count += 1
    return count


MOST_PIECES = 256
"""Each run is a write of its own: beyond this a tensor should be an input."""


def _select_scatter(b: Builder, node: Node, x: Use, source: Use, axis: int, index: int) -> Result:
    axis %= len(x.dims)
    start = index % x.shape[axis]
    return _slice_scatter(b, node, x, unsqueeze(source, [axis]), axis, start, start + 1)


def _roll(b: Builder, node: Node, x: Use, shifts: Any, axes: Any = ()) -> Result:
    moves = [shifts] if isinstance(shifts, int) else list(shifts)
    over = [axes] if isinstance(axes, int) else list(axes)
    if not over:
        raise NotImplementedError(f"{node.name}: rolled over all axes at once")
    for shift, axis in zip(moves, over, strict=True):
        size = x.shape[axis]
        by = shift % size
        if by:
            x = _rolled(b, node, x, axis, size - by)
    return x


def _rolled(b: Builder, node: Node, x: Use, axis: int, start: int) -> Use:
    size = x.shape[axis]
    axis %= len(x.dims)
    tail, head = cut(x, axis, start, size - start), cut(x, axis, 0, start)
    behind = tuple(size - start if at == axis else 0 for at in range(len(x.dims)))
    return assemble(b, node, x.shape, [(tail, (0,) * len(x.dims)), (head, behind)])


def _arange(b: Builder, node: Node, *bounds: float, **_: Any) -> Result:
    """Bounds are (end), (start, end) or (start, end, step)."""
    start, step = 0.0, 1.0
    if len(bounds) > 1:
        start = bounds[0]
    if len(bounds) > 2:  # noqa: PLR2004 - the third is the step
        step = bounds[2]
    return span(b, node.shape[0], start, step, b.kind(node.dtype))


def filled(b: Builder, shape: Sequence[int], value: Literal, dtype: Any) -> Operand:
    """A constant; one element is made, however often it is read."""
    if math.prod(shape) == 1 and not shape:
        return value
    return expand(span(b, 1, float(value), 0, b.kind(dtype)), shape)


def _full(b: Builder, node: Node, shape: Sequence[int], value: float, **_: Any) -> Result:
    return filled(b, shape, value, node.dtype)


def _all_of(value: float) -> Any:
    def rewrite(b: Builder, node: Node, *_: Any, **__: Any) -> Result:
        return filled(b, node.shape, value, node.dtype)

    return rewrite


def _constant(_b: Builder, _node: Node, *args: Any, **_: Any) -> Result:
    value: Operand = args[-1]
    return value


RULES: tuple[Rule, ...] = (
    Rule("aten.cat.default", _cat),
    Rule("aten.stack.default", _stack),
    Rule("aten.constant_pad_nd.default", _constant_pad),
    Rule("aten.slice_scatter.default", _slice_scatter),
    Rule("aten.select_scatter.default", _select_scatter),
    Rule("aten.roll.default", _roll),
    Rule("aten.arange.default", _arange),
    Rule("aten.arange.start", _arange),
    Rule("aten.arange.start_step", _arange),
    Rule("aten.full.default", _full),
    *(Rule(f"aten.{name}.default", _all_of(0)) for name in ("zeros", "new_zeros")),
    *(Rule(f"aten.{name}.default", _all_of(1)) for name in ("ones", "new_ones")),
    *(
        Rule(f"aten.{name}", _all_of(0))
        for name in (
            "empty.memory_format",
            "empty_permuted.default",
            "new_empty.default",
        )
    ),
    Rule("aten.copy.default", _copied),
    Rule("nkiport.tensor.default", _numbers),
    Rule("aten.scalar_tensor.default", _constant),
)
