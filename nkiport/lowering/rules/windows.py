"""Convolutions and poolings: a window moves over an image."""

import math
from collections.abc import Sequence
from typing import Any

from nkiport.contracts.graph import Node
from nkiport.lowering.builder import Builder, cut, expand, permute, unsqueeze
from nkiport.lowering.ir import Op, Piece, Shape, Use, Window, dense_strides, literal
from nkiport.lowering.rules.made import assemble, filled, pad, span
from nkiport.lowering.rules.places import places_of_largest
from nkiport.lowering.rules.rule import Result, Rewrite, Rule

AXES = 3
"""Depth, height, width; an image of fewer axes has size 1 in front."""


def _convolution(
    b: Builder, node: Node, x: Use, weight: Use, bias: Use | None, stride: Sequence[int],
    padding: Sequence[int], dilation: Sequence[int], transposed: bool, more: Sequence[int],
    groups: int,
) -> Result:  # fmt: skip
    rank = len(weight.dims) - 2
    size, step, spread = (_axes(each, rank) for each in (weight.shape[2:], stride, dilation))
    low = _axes(padding, rank, 0)
    if transposed:
        extra = _axes(more, rank, 0)
        x, weight = _spread_out(b, node, x, step, rank), _turned(b, weight, groups, rank)
        reach = tuple(d * (k - 1) for d, k in zip(spread, size, strict=True))
        before = tuple(r - p for r, p in zip(reach, low, strict=True))
        after = tuple(r - p + e for r, p, e in zip(reach, low, extra, strict=True))
        x, low = _bordered(b, node, x, before, after, rank)
        step = (1,) * AXES
    x, weight = _deep(x, rank), _deep(weight, rank)
    window = Window(x.shape[2:], size, step, low, spread, _axes(node.shape[2:], rank), groups)
    return _convolved(b, node, x, weight, bias, window)


def _convolved(
    b: Builder, node: Node, x: Use, weight: Use, bias: Use | None, window: Window
) -> Use:
    out, taps = weight.shape[0], math.prod(window.size)
    weight = b.view(b.dense(weight), (*weight.shape[:2], taps))
    name = node.name if bias is None else f"{node.name}_sums"
    dims = (x.dims[0], literal(out), literal(math.prod(window.out)))
    dtype = node.dtype if bias is None else "float32"
    uses = (b.dense(x), b.dense(weight))
    sums = b.add(Op(name, "conv", uses, dims, dtype, detail=window))
    if bias is not None:
        sums = b.elementwise("add", sums, b.view(bias, (out, 1)), dtype=node.dtype)
    return b.view(sums, node.shape)


def _axes(values: Sequence[int], rank: int, fill: int = 1) -> Shape:
    """Three numbers, the last ones given; one number stands for every axis."""
    given = tuple(values) * rank if len(values) == 1 else tuple(values)
    return (*(fill,) * (AXES - rank), *given)


def _deep(use: Use, rank: int) -> Use:
    """Three axes of space, whatever the image has."""
    return unsqueeze(use, range(2, 2 + AXES - rank))


def _spread_out(b: Builder, node: Node, x: Use, step: Shape, rank: int) -> Use:
    """Zeros between the values, as far as the stride of a transposed convolution says."""
    steps = (1, 1, *step[AXES - rank :])
    if math.prod(steps) == 1:
        return x
    shape = tuple((size - 1) * s + 1 for size, s in zip(x.shape, steps, strict=True))
    return assemble(b, node, shape, [(x, (0,) * len(shape))], steps, _gaps(x.shape, shape, steps))


def _gaps(have: Shape, shape: Shape, steps: Shape) -> list[Piece]:
    """The zeros between: axis by axis, where the axes before hold values."""
    strides = dense_strides(shape)
    found = []
    for axis, step in enumerate(steps):
        sizes = (*have[:axis], have[axis] - 1, *shape[axis + 1 :])
        apart = (*(s * t for s, t in zip(strides[: axis + 1], steps, strict=False)),
                 *strides[axis + 1 :])  # fmt: skip
        found += [
            Piece(sizes, gap * strides[axis], apart, 0.0) for gap in range(1, step) if sizes[axis]
        ]
    return found


def _turned(b: Builder, weight: Use, groups: int, rank: int) -> Use:
    """Weights (C, O / groups, ...) as (O, C / groups, ...), each axis of space backwards."""
    for axis in range(2, 2 + rank):
        weight = cut(weight, axis, weight.shape[axis] - 1, weight.shape[axis], -1)
    if groups == 1:
        return permute(weight, [1, 0, *range(2, 2 + rank)])
    channels, own, *size = weight.shape
    parted = b.view(weight, (groups, channels // groups, own, *size))
    moved = permute(parted, [0, 2, 1, *range(3, 3 + rank)])
    return b.view(moved, (groups * own, channels // groups, *size))


def _bordered(
    b: Builder, node: Node, x: Use, before: Shape, after: Shape, rank: int
) -> tuple[Use, Shape]:
    """Cut where padding is negative; what is positive before is left to the kernel."""
    low = (0, 0, *before[AXES - rank :])
    high = (0, 0, *after[AXES - rank :])
    if min(low) >= 0:
        return x, before
    return pad(b, node, x, low, high, 0.0), (0,) * AXES


def _pool(op: str) -> Rewrite:
    def rewrite(
        b: Builder, node: Node, x: Use, size: Sequence[int], stride: Sequence[int] = (),
        padding: Sequence[int] = (0,), *rest: Any,
    ) -> Result:  # fmt: skip
        spread = rest[0] if op == "max" and rest else (1,)
        whole = _pooled(b, node, x, (size, stride or size, padding, spread), op)
        if op == "max":
            image, window = _framed(b, node, x, (size, stride or size, padding, spread), op)
            value = b.elementwise("copy", whole, dtype=node.dtype)
            return value, places_of_largest(b, node, image, window)
        options = dict(zip(("ceil_mode", "include", "divisor"), rest, strict=False))
        return _averaged(b, node, x, whole, size, stride or size, padding, options)

    return rewrite


def _pooled(b: Builder, node: Node, x: Use, how: Sequence[Sequence[int]], op: str) -> Use:
    """Join what lies under each window; the leading axes are the rows."""
    image, window = _framed(b, node, x, how, op)
    dims = (image.dims[0], image.dims[1], literal(math.prod(window.out)))
    pooled = b.add(Op(f"{node.name}_{op}", "pool", (b.dense(image),), dims, "float32",
                      detail=window))  # fmt: skip
    return b.view(pooled, node.shape)


def _framed(
    b: Builder, node: Node, x: Use, how: Sequence[Sequence[int]], op: str
) -> tuple[Use, Window]:
    """The image as (1, C, D, H, W), and how the window moves over it."""
    size, stride, padding, spread = how
    rank = _rank(node, x, size)
    image = b.view(x, (1, -1, *(1,) * (AXES - rank), *x.shape[len(x.dims) - rank :]))
    out = _axes(node.shape[len(node.shape) - rank :], rank)
    window = Window(
        image.shape[2:], _axes(size, rank), _axes(stride, rank), _axes(padding, rank, 0),
        _axes(spread, rank), out, op=op,
    )  # fmt: skip
    return image, window


def _rank(node: Node, x: Use, size: Sequence[int]) -> int:
    for rank in (1, 2, 3):
        if f"pool{rank}d" in node.op:
            return rank
    return len(size) or len(x.dims) - 2


def _averaged(
    b: Builder, node: Node, x: Use, sums: Use, size: Sequence[int], stride: Sequence[int],
    padding: Sequence[int], options: dict[str, Any],
) -> Result:  # fmt: skip
    rank = _rank(node, x, size)
    full = math.prod(_axes(size, rank))
    divisor = options.get("divisor")
    inside = not options.get("ceil_mode") and (options.get("include", True) or not any(padding))
    if divisor or inside:
        return b.elementwise("mul", sums, 1 / (divisor or full), dtype=node.dtype)
    image = x.shape[len(x.dims) - rank :]
    if options.get("include", True):
        border = _axes(padding, rank, 0)[AXES - rank :]
        image, padding = tuple(n + 2 * p for n, p in zip(image, border, strict=True)), (0,)
    ones = filled(b, image, 1.0, "float32")
    assert isinstance(ones, Use)  # noqa: S101 - it has a shape
    counted = node.model_copy(
        update={"name": f"{node.name}_count", "shape": node.shape[len(node.shape) - rank :]}
    )
    counts = _pooled(b, counted, ones, (size, stride, padding, (1,)), "sum")
    return b.elementwise("div", sums, counts, dtype=node.dtype)


def _adaptive(op: str) -> Rewrite:
    """Pool to a given size, axis by axis: position i takes from i*n//m to ceil((i+1)*n/m)."""

    def rewrite(b: Builder, node: Node, x: Use, wanted: Sequence[int]) -> Result:
        rank = len(wanted)
        for axis, size in zip(range(len(x.dims) - rank, len(x.dims)), wanted, strict=True):
            x = _adapted(b, node, x, axis, size, op)
        return b.elementwise("copy", x, dtype=node.dtype)

    return rewrite


def _adapted(b: Builder, node: Node, x: Use, axis: int, size: int, op: str) -> Use:
    have = x.shape[axis]
    if have == size:
        return x
    if have % size == 0:
        parts = b.view(x, (*x.shape[:axis], size, have // size, *x.shape[axis + 1 :]))
        return b.reduce(op, parts, [axis + 1], keepdim=False, name=f"{b.node}_axis{axis}")
    bounds = [(i * have // size, -(-(i + 1) * have // size)) for i in range(size)]
    cuts = [cut(x, axis, start, end - start) for start, end in bounds]
    means = [b.reduce(op, c, [axis], keepdim=True, name=f"{b.node}_axis{axis}") for c in cuts]
    shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
    places = [tuple(i if at == axis else 0 for at in range(len(shape))) for i in range(size)]
    inner = node.model_copy(update={"name": f"{node.name}_axis{axis}", "shape": shape})
    return assemble(b, inner, shape, list(zip(means, places, strict=True)))


def _adaptive_largest(b: Builder, node: Node, x: Use, wanted: Sequence[int]) -> Result:
    """The values, and where each was found first, counted row by row through the image."""
    rank = len(wanted)
    image = x.shape[len(x.dims) - rank :]
    line = b.view(span(b, math.prod(image)), image)
    place = expand(unsqueeze(line, range(len(x.dims) - rank)), x.shape)
    for axis, size in zip(range(len(x.dims) - rank, len(x.dims)), wanted, strict=True):
        value = _adapted(b, node, x, axis, size, "max")
        place = _adapted_place(b, node, (x, place), value, axis)
        x = value
    found = b.elementwise("cast", place, dtype="int64", name=f"{node.name}_index")
    return b.elementwise("copy", x, dtype=node.dtype), found


def _adapted_place(b: Builder, node: Node, pair: tuple[Use, Use], value: Use, axis: int) -> Use:
    """The smallest place, which comes first, of those where the largest value stands."""
    have, size = pair[0].shape[axis], value.shape[axis]
    if have == size:
        return pair[1]
    bounds = [(i * have // size, -(-(i + 1) * have // size)) for i in range(size)]
    found = []
    for i, (start, end) in enumerate(bounds):
        part, where = (cut(each, axis, start, end - start) for each in pair)
        best = b.part("is_best", "equal", part, cut(value, axis, i, 1))
        here = b.part("here", "where", best, where, math.inf)
        found.append(b.reduce("min", here, [axis], keepdim=True, name=f"{b.node}_place{axis}"))
    at = [tuple(i if a == axis else 0 for a in range(len(value.dims))) for i in range(size)]
    inner = node.model_copy(
        update={"name": f"{node.name}_place{axis}", "shape": value.shape, "dtype": "float32"}
    )
    return assemble(b, inner, value.shape, list(zip(found, at, strict=True)))


def _unfolded(b: Builder, _node: Node, x: Use, axis: int, size: int, step: int) -> Result:
    """Windows along an axis as a new last axis; they are read where they lie."""
    axis %= len(x.dims)
    base = b.dense(x)
    count = (x.shape[axis] - size) // step + 1
    cutted = cut(base, axis, 0, count, 1)
    wide = unsqueeze(cutted, [len(cutted.dims)])
    stride = dense_strides(base.shape)[axis]
    strides = [*wide.strides]
    strides[axis], strides[-1] = (0 if count == 1 else stride * step), (0 if size == 1 else stride)
    return Use(base.value, (*wide.dims[:-1], literal(size)), tuple(strides), base.offset)


RULES: tuple[Rule, ...] = (
    Rule("aten.convolution.default", _convolution),
    *(Rule(f"aten.max_pool{n}d_with_indices.default", _pool("max")) for n in (2, 3)),
    *(Rule(f"aten.max_pool{n}d.default", _pool("max")) for n in (1, 2, 3)),
    *(Rule(f"aten.avg_pool{n}d.default", _pool("sum")) for n in (1, 2, 3)),
    *(Rule(f"aten._adaptive_avg_pool{n}d.default", _adaptive("mean")) for n in (2, 3)),
    *(Rule(f"aten.adaptive_avg_pool{n}d.default", _adaptive("mean")) for n in (1, 2, 3)),
    *(Rule(f"aten.adaptive_max_pool{n}d.default", _adaptive_largest) for n in (1, 2, 3)),
    Rule("aten.unfold.default", _unfolded),
)
