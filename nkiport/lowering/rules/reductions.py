"""Reductions, moments and norms of vectors."""

import math
from typing import Any

from nkiport.contracts.graph import Node
from nkiport.lowering.builder import Builder, cut, permute, unsqueeze
from nkiport.lowering.ir import Op, Running, Use
from nkiport.lowering.rules.made import assemble, span
from nkiport.lowering.rules.rule import Result, Rewrite, Rule


def _reduction(kind: str) -> Rewrite:
    def rewrite(
        b: Builder, node: Node, x: Use, axes: Any = (), keepdim: bool = False, **_: Any
    ) -> Result:
        return b.reduce(kind, x, _axes(axes), keepdim=keepdim, dtype=node.dtype)

    return rewrite


def _axes(axes: Any) -> tuple[int, ...]:
    return (axes,) if isinstance(axes, int) else tuple(axes or ())


def _var(
    b: Builder, node: Node, x: Use, axes: Any = None, *, correction: float | None = None,
    keepdim: bool = False,
) -> Result:  # fmt: skip
    return _moments(b, node, x, axes, correction, keepdim=keepdim)[0]


def _var_mean(
    b: Builder, node: Node, x: Use, axes: Any = None, *, correction: float | None = None,
    keepdim: bool = False,
) -> Result:  # fmt: skip
    return _moments(b, node, x, axes, correction, keepdim=keepdim)


def _old_var(
    b: Builder, node: Node, x: Use, axes: Any, unbiased: bool = True, keepdim: bool = False
) -> Result:
    return _moments(b, node, x, axes, 1 if unbiased else 0, keepdim=keepdim)[0]


def _moments(
    b: Builder, node: Node, x: Use, axes: Any, correction: float | None, *, keepdim: bool
) -> tuple[Use, Use]:
    """Variance and mean. Two passes: squares of differences, never a difference of squares."""
    over = _axes(axes) or tuple(range(len(x.dims)))
    mean = b.reduce("mean", x, over, keepdim=True, name=f"{node.name}_mean")
    square = b.part("square", "square", b.part("centred", "sub", x, mean))
    less = 1 if correction is None else correction
    var = b.reduce("mean", square, over, keepdim=keepdim, correction=less, name=node.name)
    return var, mean if keepdim else b.view(mean, var.shape)


def _vector_norm(
    b: Builder, node: Node, x: Use, order: float = 2, axes: Any = None, keepdim: bool = False,
    **_: Any,
) -> Result:  # fmt: skip
    if order == 2:  # noqa: PLR2004 - the Euclidean norm
        square = b.part("square", "square", x)
        total = b.reduce("sum", square, _axes(axes), keepdim=keepdim, name=f"{node.name}_sum")
        return b.elementwise("sqrt", total, dtype=node.dtype)
    kinds = {1: "sum", math.inf: "max", -math.inf: "min"}
    size = b.part("abs", "abs", x)
    if order in kinds:
        return b.reduce(kinds[order], size, _axes(axes), keepdim=keepdim, dtype=node.dtype)
    if order == 0:
        there = b.part("there", "not_equal", size, 0.0)
        return b.reduce("sum", there, _axes(axes), keepdim=keepdim, dtype=node.dtype)
    grown = b.part("grown", "pow", size, float(order))
    total = b.reduce("sum", grown, _axes(axes), keepdim=keepdim, name=f"{node.name}_sum")
    return b.elementwise("pow", total, 1 / order, dtype=node.dtype)


def _distance(b: Builder, node: Node, x: Use, y: Use, order: float = 2) -> Result:
    return _vector_norm(b, node, b.part("apart", "sub", x, y), order)


def _argument(kind: str) -> Rewrite:
    """The first place of the largest (``max``) or smallest value of an axis."""

    def rewrite(
        b: Builder, node: Node, x: Use, axis: int | None = None, keepdim: bool = False
    ) -> Result:
        flat = axis is None
        over = b.view(x, (-1,)) if flat else x
        found = place_of(b, kind, over, -1 if axis is None else axis)
        if not keepdim:
            found = b.view(found, node.shape)
        return b.elementwise("cast", b.view(found, node.shape), dtype=node.dtype)

    return rewrite


def place_of(b: Builder, kind: str, x: Use, axis: int, best: Use | None = None) -> Use:
    """Where the row's best value is first, as a float32 with the axis kept."""
    rank = len(x.dims)
    best = b.reduce(kind, x, [axis], keepdim=True, name=f"{b.node}_best") if best is None else best
    size = x.shape[axis]
    places = unsqueeze(span(b, size), [a for a in range(rank) if a != axis % rank])
    here = b.part("here", "where", b.part("is_best", "equal", x, best), places, float(size))
    return b.reduce("min", here, [axis], keepdim=True, name=f"{b.node}_place")


def _with_place(kind: str) -> Rewrite:
    """The best values of an axis and their places."""

    def rewrite(b: Builder, node: Node, x: Use, axis: int, *_: Any) -> Result:
        best = b.reduce(kind, x, [axis], keepdim=True, name=f"{b.node}_best")
        place = place_of(b, kind, x, axis, best)
        found = b.elementwise("cast", place, dtype="int64", name=f"{b.node}_index")
        value = b.elementwise("copy", best, dtype=node.dtype)
        return b.view(value, node.shape), b.view(found, node.shape)

    return rewrite


def top_by_turns(
    b: Builder, node: Node, x: Use, count: int, axis: int = -1, largest: bool = True,
    ordered: bool = True,
) -> Result:  # fmt: skip
    """The best values one after another, each struck out before the next is looked for."""
    del ordered  # in order is allowed where order does not matter
    kind, worst = ("max", -math.inf) if largest else ("min", math.inf)
    rank = len(x.dims)
    places = unsqueeze(span(b, x.shape[axis]), [a for a in range(rank) if a != axis % rank])
    values, found = [], []
    for turn in range(count):
        best = b.reduce(kind, x, [axis], keepdim=True, name=f"{b.node}_best")
        place = place_of(b, kind, x, axis, best)
        values.append(best)
        found.append(place)
        if turn + 1 < count:
            x = b.part("left", "where", b.part("struck", "equal", places, place), worst, x)
    return _joined(b, node, values, axis), b.elementwise(
        "cast", _joined(b, node, found, axis), dtype="int64", name=f"{b.node}_index"
    )


def _joined(b: Builder, node: Node, parts: list[Use], axis: int) -> Use:
    rank = len(node.shape)
    places = [[n if at == axis % rank else 0 for at in range(rank)] for n in range(len(parts))]
    return assemble(b, node, node.shape, list(zip(parts, places, strict=True)))


def _scan(kind: str) -> Rewrite:
    def rewrite(b: Builder, node: Node, x: Use, axis: int, **_: Any) -> Result:
        return running(b, node, kind, x, axis) if x.dims else x

    return rewrite


def running(b: Builder, node: Node, kind: str, x: Use, axis: int) -> Use:
    """Running sums, products or maxima: the axis is walked along the free dimension."""
    rank = len(x.dims)
    order = [a for a in range(rank) if a != axis % rank] + [axis % rank]
    moved = permute(x, order)
    rows = b.dense(b.view(b.dense(moved), (-1, x.shape[axis])))
    op = Op(node.name, "scan", (rows,), rows.dims, node.dtype, detail=Running(kind))
    return permute(b.view(b.add(op), moved.shape), [order.index(a) for a in range(rank)])


def _log_sum(b: Builder, node: Node, x: Use, axes: Any = (), keepdim: bool = False) -> Result:
    over = _axes(axes)
    largest = b.reduce("max", x, over, keepdim=True, name=f"{node.name}_max")
    exp = b.part("exp", "exp", b.part("shifted", "sub", x, largest))
    total = b.reduce("sum", exp, over, keepdim=True, name=f"{node.name}_sum")
    value = b.elementwise("add", b.part("log", "log", total), largest, dtype=node.dtype)
    return value if keepdim else b.view(value, node.shape)


def _log_running_sum(b: Builder, node: Node, x: Use, axis: int) -> Result:
    """Of the exponentials, the largest value of the row taken off first."""
    largest = b.reduce("max", x, [axis], keepdim=True, name=f"{node.name}_max")
    exp = b.part("exp", "exp", b.part("shifted", "sub", x, largest))
    total = running(b, node, "sum", exp, axis)
    return b.elementwise("add", b.part("log", "log", total), largest, dtype=node.dtype)


def _product(b: Builder, node: Node, x: Use, axis: int | None = None, *_: Any, **__: Any) -> Result:
    """The last of the running products."""
    flat = b.view(x, (-1,)) if axis is None else x
    over = len(flat.dims) - 1 if axis is None else axis % len(flat.dims)
    last = cut(running(b, node, "product", flat, over), over, flat.shape[over] - 1, 1)
    return b.view(last, node.shape)


def _truth(kind: str) -> Rewrite:
    """Any is the largest truth value, all the smallest."""

    def rewrite(b: Builder, node: Node, x: Use, axes: Any = (), keepdim: bool = False) -> Result:
        truth = b.part("truth", "not_equal", x, 0.0)
        return b.reduce(kind, truth, _axes(axes), keepdim=keepdim, dtype=node.dtype)

    return rewrite


RULES: tuple[Rule, ...] = (
    Rule("aten.sum.dim_IntList", _reduction("sum")),
    Rule("aten.sum.default", _reduction("sum")),
    Rule("aten.mean.dim", _reduction("mean")),
    Rule("aten.mean.default", _reduction("mean")),
    Rule("aten.amax.default", _reduction("max")),
    Rule("aten.amin.default", _reduction("min")),
    Rule("aten.max.default", _reduction("max")),
    Rule("aten.min.default", _reduction("min")),
    Rule("aten.max.dim", _with_place("max")),
    Rule("aten.min.dim", _with_place("min")),
    Rule("aten.argmax.default", _argument("max")),
    Rule("aten.argmin.default", _argument("min")),
    Rule("aten.any.default", _truth("max")),
    Rule("aten.any.dim", _truth("max")),
    Rule("aten.any.dims", _truth("max")),
    Rule("aten.all.default", _truth("min")),
    Rule("aten.all.dim", _truth("min")),
    Rule("aten.prod.default", _product),
    Rule("aten.prod.dim_int", _product),
    Rule("aten.cumsum.default", _scan("sum")),
    Rule("aten.cumprod.default", _scan("product")),
    Rule("aten.logsumexp.default", _log_sum),
    Rule("aten.logcumsumexp.default", _log_running_sum),
    Rule("aten.var.correction", _var),
    Rule("aten.var.dim", _old_var),
    Rule("aten.var_mean.correction", _var_mean),
    Rule("aten.linalg_vector_norm.default", _vector_norm),
    Rule("aten.dist.default", _distance),
)
