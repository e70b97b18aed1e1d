"""What asks for an order: sorting, the k-th smallest value, running maxima with their places."""

from typing import Any

from nkiport.contracts.graph import Node
from nkiport.lowering.builder import Builder, cut, permute, unsqueeze
from nkiport.lowering.ir import Use
from nkiport.lowering.rules.made import span
from nkiport.lowering.rules.reductions import running, top_by_turns
from nkiport.lowering.rules.rule import Result, Rewrite, Rule

MOST_COMPARED = 1024
"""Values of a row: each is compared with each, so the work grows with the square."""


def _ranks(b: Builder, rows: Use, *, descending: bool = False) -> Use:
    """How many values of its row (R, N) come before each one; of equal ones the first is first."""
    size = rows.shape[1]
    if size > MOST_COMPARED:
        raise NotImplementedError(f"{b.node}: a row of {size} is sorted; at most {MOST_COMPARED}")
    own, other = unsqueeze(rows, [2]), unsqueeze(rows, [1])
    line = span(b, size)
    earlier = b.part("earlier", "less", unsqueeze(line, [0]), unsqueeze(line, [1]))
    less = b.part("less", "greater" if descending else "less", other, own)
    tied = b.part("tied", "mul", b.part("equal", "equal", other, own), earlier)
    return b.reduce("sum", b.part("before", "add", less, tied), [2], keepdim=False,
                    name=f"{b.node}_rank")  # fmt: skip


def _picked(b: Builder, here: Use, values: Use, name: str) -> Use:
    """The one value of each row of ``here`` that stands where it is true."""
    kept = b.part("kept", "where", here, values, 0.0)
    return b.reduce("sum", kept, [len(kept.dims) - 1], keepdim=False, name=name)


def _found(b: Builder, node: Node, here: Use, values: Use, places: Use) -> tuple[Use, Use]:
    value = _picked(b, here, values, f"{b.node}_value")
    place = _picked(b, here, places, f"{b.node}_place")
    return (
        b.elementwise("copy", value, dtype=node.dtype),
        b.elementwise("cast", place, dtype="int64", name=f"{b.node}_index"),
    )


def _rows(b: Builder, x: Use, axis: int) -> tuple[Use, list[int]]:
    """The axis last and the others as rows, and the order that was read."""
    rank = len(x.dims)
    order = [a for a in range(rank) if a != axis % rank] + [axis % rank]
    return b.view(permute(x, order), (-1, x.shape[axis])), order


def _sort(
    b: Builder, node: Node, x: Use, axis: int = -1, descending: bool = False, **more: Any
) -> Result:
    """At each place the value whose rank it is."""
    axis, descending = more.get("dim", axis), more.get("descending", descending)
    rows, order = _rows(b, x, axis)
    line = span(b, x.shape[axis])
    ranks = unsqueeze(_ranks(b, rows, descending=descending), [1])
    here = b.part("here", "equal", ranks, unsqueeze(line, [0, 2]))
    found = _found(b, node, here, unsqueeze(rows, [1]), unsqueeze(line, [0, 1]))
    moved = tuple(x.shape[a] for a in order)
    back = [order.index(a) for a in range(len(order))]
    value, index = (permute(b.view(each, moved), back) for each in found)
    return value, index


def _top(
    b: Builder, node: Node, x: Use, count: int, axis: int = -1, largest: bool = True,
    *_: object,
) -> Result:  # fmt: skip
    """Few are found one after another, many by sorting."""
    if count <= MOST_TURNS:
        return top_by_turns(b, node, x, count, axis, largest)
    found = _sort(b, node, x, axis, largest)
    assert isinstance(found, tuple)  # noqa: S101 - values and places
    values, places = found
    assert isinstance(values, Use)  # noqa: S101
    assert isinstance(places, Use)  # noqa: S101
    return cut(values, axis, 0, count), cut(places, axis, 0, count)


MOST_TURNS = 16
"""A kernel for each turn: beyond this sorting is the better way."""


def _kth(b: Builder, node: Node, x: Use, place: int, axis: int) -> Result:
    rows, _ = _rows(b, x, axis)
    here = b.part("here", "equal", _ranks(b, rows), float(place))
    value, index = _found(b, node, here, rows, unsqueeze(span(b, x.shape[axis]), [0]))
    return b.view(value, node.shape), b.view(index, node.shape)


def _kth_value(b: Builder, node: Node, x: Use, count: int, axis: int = -1, *_: Any) -> Result:
    return _kth(b, node, x, count - 1, axis)


def _median(b: Builder, node: Node, x: Use, axis: int | None = None, *_: Any) -> Result:
    """The lower of two middle values."""
    line = b.view(x, (-1,)) if axis is None else x
    over = 0 if axis is None else axis
    found = _kth(b, node, line, (line.shape[over] - 1) // 2, over)
    return found[0] if axis is None and isinstance(found, tuple) else found


def _running(kind: str) -> Rewrite:
    """The best value so far and its place; of equal ones the last, whose place is the largest."""

    def rewrite(b: Builder, node: Node, x: Use, axis: int) -> Result:
        rank = len(x.dims)
        best = running(b, node, kind, x, axis)
        line = unsqueeze(span(b, x.shape[axis]), [a for a in range(rank) if a != axis % rank])
        here = b.part("here", "where", b.part("is_best", "equal", x, best), line, 0.0)
        wide = node.model_copy(update={"dtype": "float32", "name": f"{node.name}_place"})
        place = running(b, wide, "max", here, axis)
        return best, b.elementwise("cast", place, dtype="int64", name=f"{b.node}_index")

    return rewrite


def _stable(b: Builder, node: Node, x: Use, *rest: Any, **more: Any) -> Result:
    """Its second argument asks for what is done anyway."""
    more.pop("stable", None)
    return _sort(b, node, x, *rest[1:], **more)


RULES: tuple[Rule, ...] = (
    Rule("aten.sort.default", _sort),
    Rule("aten.sort.stable", _stable),
    Rule("aten.topk.default", _top),
    Rule("aten.kthvalue.default", _kth_value),
    Rule("aten.median.dim", _median),
    Rule("aten.median.default", _median),
    Rule("aten.cummax.default", _running("max")),
    Rule("aten.cummin.default", _running("min")),
)
