"""Views: overloads that only read a stored value in another way."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nkiport.contracts.graph import Node
from nkiport.lowering.builder import (
    Builder,
    Operand,
    cut,
    drop,
    expand,
    permute,
    unsqueeze,
)
from nkiport.lowering.ir import Use, literal
from nkiport.lowering.rules.rule import Result, Rule


def _same_data(_b: Builder, _node: Node, x: Operand, *_: Any, **__: Any) -> Result:
    return x


def _view(b: Builder, _node: Node, x: Use, sizes: Sequence[int]) -> Result:
    return b.view(x, sizes)


def _flat(b: Builder, node: Node, x: Use, *_: Any) -> Result:
    return b.view(x, node.shape)


def _permute(_b: Builder, _node: Node, x: Use, order: Sequence[int]) -> Result:
    return permute(x, order)


def _transpose(_b: Builder, _node: Node, x: Use, one: int = 0, two: int = 1) -> Result:
    order = list(range(len(x.dims)))
    if order:
        order[one], order[two] = order[two], order[one]
    return permute(x, order)


def _turn(_b: Builder, _node: Node, x: Use) -> Result:
    return permute(x, list(reversed(range(len(x.dims)))))


def _unsqueeze(_b: Builder, _node: Node, x: Use, axis: int) -> Result:
    return unsqueeze(x, [axis % (len(x.dims) + 1)])


def _expand(_b: Builder, _node: Node, x: Use, sizes: Sequence[int], **_: Any) -> Result:
    return expand(x, sizes)


def _slice(
    b: Builder, _node: Node, x: Use, axis: int = 0, start: int | None = None,
    end: int | None = None, step: int = 1,
) -> Result:  # fmt: skip
    places = range(x.shape[axis])[start:end:step]
    if not places:
        raise NotImplementedError(f"{b.node}: an empty slice")
    return cut(x, axis, places.start, len(places), step)


def _strided(
    b: Builder, node: Node, x: Use, sizes: Sequence[int], strides: Sequence[int], start: int = 0
) -> Result:
    """Any way through a value that lies in row-major order."""
    last = start + sum((size - 1) * step for size, step in zip(sizes, strides, strict=True))
    if not 0 <= start <= last < math.prod(x.shape):
        raise NotImplementedError(f"{node.name}: strides that lead out of the tensor")
    steps = tuple(0 if size == 1 else step for size, step in zip(sizes, strides, strict=True))
    return Use(b.dense(x).value, tuple(literal(size) for size in sizes), steps, start)


def _select(_b: Builder, _node: Node, x: Use, axis: int, index: int) -> Result:
    return drop(cut(x, axis, index % x.shape[axis], 1), axis)


def _split(_b: Builder, _node: Node, x: Use, size: int | Sequence[int], axis: int = 0) -> Result:
    whole = x.shape[axis]
    sizes = size if not isinstance(size, int) else [
        min(size, whole - start) for start in range(0, whole, size)
    ]  # fmt: skip
    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    return tuple(cut(x, axis, at, each) for at, each in zip(starts, sizes, strict=True))


def _unbind(_b: Builder, _node: Node, x: Use, axis: int = 0) -> Result:
    return tuple(drop(cut(x, axis, place, 1), axis) for place in range(x.shape[axis]))


def _flip(_b: Builder, _node: Node, x: Use, axes: Sequence[int]) -> Result:
    for axis in axes:
        x = cut(x, axis, x.shape[axis] - 1, x.shape[axis], -1)
    return x


def _repeat(b: Builder, _node: Node, x: Use, times: Sequence[int]) -> Result:
    """Beside each dimension one that repeats; together they are the repeated dimension."""
    x = unsqueeze(x, range(len(times) - len(x.dims)))
    sizes = x.shape
    paired = unsqueeze(x, [2 * axis for axis in range(len(times))])
    wanted = [size for pair in zip(times, sizes, strict=True) for size in pair]
    whole = [time * size for time, size in zip(times, sizes, strict=True)]
    return b.view(expand(paired, wanted), whole)


def _diagonal(
    _b: Builder, node: Node, x: Use, offset: int = 0, one: int = 0, two: int = 1
) -> Result:
    rows, columns = x.shape[one], x.shape[two]
    start = max(-offset, 0), max(offset, 0)
    size = min(rows - start[0], columns - start[1])
    if size <= 0:
        raise NotImplementedError(f"{node.name}: an empty diagonal")
    rank = len(x.dims)
    moved = permute(x, [*(a for a in range(rank) if a not in {one % rank, two % rank}), one, two])
    first = cut(cut(moved, -2, start[0], size), -1, start[1], size)
    step = first.strides[-2] + first.strides[-1]
    joined = drop(cut(first, -1, 0, 1), -1)
    return replace(joined, strides=(*joined.strides[:-1], step))


RULES: tuple[Rule, ...] = (
    *(
        Rule(f"aten.{name}.default", _same_data)
        for name in ("clone", "alias", "detach", "contiguous", "lift_fresh_copy")
    ),
    Rule("aten._assert_tensor_metadata.default", _same_data),
    Rule("aten.view.default", _view),
    Rule("aten._unsafe_view.default", _view),
    Rule("aten.reshape.default", _view),
    Rule("aten.squeeze.default", _flat),
    Rule("aten.squeeze.dim", _flat),
    Rule("aten.squeeze.dims", _flat),
    Rule("aten.unsqueeze.default", _unsqueeze),
    Rule("aten.expand.default", _expand),
    Rule("aten.permute.default", _permute),
    Rule("aten.transpose.int", _transpose),
    Rule("aten.t.default", _turn),
    Rule("aten.slice.Tensor", _slice),
    Rule("aten.as_strided.default", _strided),
    Rule("aten.select.int", _select),
    Rule("aten.split.Tensor", _split),
    Rule("aten.split_with_sizes.default", _split),
    Rule("aten.unbind.int", _unbind),
    Rule("aten.flip.default", _flip),
    Rule("aten.repeat.default", _repeat),
    Rule("aten.diagonal.default", _diagonal),
)
