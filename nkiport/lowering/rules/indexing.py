"""Tensors read at places that other tensors give."""

from collections.abc import Sequence

from nkiport.contracts.graph import Node
from nkiport.lowering.builder import Builder, Operand, cut, unsqueeze
from nkiport.lowering.ir import Op, Use
from nkiport.lowering.rules.made import span
from nkiport.lowering.rules.rule import Result, Rewrite, Rule


def _rows(b: Builder, table: Use, places: Use, name: str) -> Use:
    """Rows of a table (R, C) at places (N): (N, C)."""
    dims = (places.dims[0], table.dims[1])
    uses = (b.dense(table), b.dense(places))
    return b.add(Op(name, "gather", uses, dims, b.dtypes[table.value]))


def _embedding(b: Builder, node: Node, weight: Use, places: Use, *_: object) -> Result:
    found = _rows(b, weight, b.view(places, (-1,)), node.name)
    return b.view(found, node.shape)


def _index_select(b: Builder, node: Node, x: Use, axis: int, places: Use) -> Result:
    """The axis becomes the rows of a table for each index of the axes before it."""
    axis %= max(len(x.dims), 1)
    return taken(b, node, x, axis, b.view(places, (-1,)))


def taken(b: Builder, node: Node, x: Use, axis: int, places: Use) -> Use:
    """The axis at the places (N,), which are int32, in the shape of the node."""
    before, size, behind = 1, x.shape[axis], 1
    for at, each in enumerate(x.shape):
        before *= each if at < axis else 1
        behind *= each if at > axis else 1
    table = b.view(x, (before * size, behind))
    if before > 1:
        starts = unsqueeze(span(b, before, 0, size), [1])
        sums = b.elementwise("add", starts, unsqueeze(places, [0]), name=f"{b.node}_row")
        places = b.view(b.elementwise("cast", sums, dtype="int32", name=f"{b.node}_rows"), (-1,))
    return b.view(_rows(b, table, places, node.name), node.shape)


def _gather(b: Builder, node: Node, x: Use, axis: int, places: Use, **_: object) -> Result:
    """Each element by its own address: the axis gives one part of it, the others theirs."""
    axis %= max(len(x.dims), 1)
    base = b.dense(x)
    parts = [b.part("along", "mul", places, float(base.strides[axis]))]
    for at, size in enumerate(places.shape):
        if at != axis and size > 1:
            line = span(b, size, 0, base.strides[at])
            parts.append(unsqueeze(line, [a for a in range(len(places.dims)) if a != at]))
    address = parts[0]
    for part in parts[1:]:
        address = b.part("address", "add", address, part)
    whole = b.elementwise("cast", address, dtype="int32", name=f"{b.node}_place")
    table = b.view(base, (-1, 1))
    return b.view(_rows(b, table, b.view(whole, (-1,)), node.name), node.shape)


def _index(b: Builder, node: Node, x: Use, places: Sequence[Use | None]) -> Result:
    """Axes by tensors of places, which may count from the end.

    Several tensors are taken one after another where each runs along an axis of its own.
    """
    given = [(axis, each) for axis, each in enumerate(places) if each is not None]
    if any(b.dtypes[each.value] == "bool" for _, each in given):
        raise NotImplementedError(f"{node.name}: indexed by a mask")
    if len(given) == 1:
        return _by_places(b, node, x, *given[0])
    if not _apart([each for _, each in given], [axis for axis, _ in given]):
        raise NotImplementedError(f"{node.name}: {len(given)} index tensors, element by element")
    for axis, each in given:
        line = b.view(each, (-1,))
        shape = (*x.shape[:axis], line.shape[0], *x.shape[axis + 1 :])
        inner = node.model_copy(update={"name": f"{node.name}_axis{axis}", "shape": shape})
        x = _by_places(b, inner, x, axis, line)
    return x


def _apart(places: Sequence[Use], axes: Sequence[int]) -> bool:
    """Whether each tensor runs along its own axis of the result, and the axes follow each other."""
    rank = max(len(each.shape) for each in places)
    own = [[at - len(e.shape) for at, n in enumerate(e.shape) if n > 1] for e in places]
    in_place = [[at] for at in range(-rank, 0)]
    return (
        rank == len(places)
        and own == in_place
        and list(axes) == list(range(axes[0], axes[0] + rank))
    )


def _by_places(b: Builder, node: Node, x: Use, axis: int, line: Use) -> Use:
    size = x.shape[axis]
    behind = b.part("from_end", "add", line, float(size))
    whole = b.part("counted", "where", b.part("negative", "less", line, 0.0), behind, line)
    flat = b.view(b.elementwise("cast", whole, dtype="int32", name=f"{b.node}_place"), (-1,))
    return taken(b, node, x, axis, flat)


def _scatter(join: str) -> Rewrite:
    """Each place of the axis in its turn: where it is named, the new value stands or is joined."""

    def rewrite(
        b: Builder, node: Node, x: Use, axis: int, places: Use, source: Operand, **_: object
    ) -> Result:
        count = places.shape[axis]
        if count > MOST_PLACES:
            raise NotImplementedError(f"{node.name}: {count} places; at most {MOST_PLACES}")
        axis %= len(x.dims)
        others = [at for at in range(len(x.dims)) if at != axis]
        if any(places.shape[at] != x.shape[at] for at in others):
            raise NotImplementedError(f"{node.name}: places for a part of the other axes")
        line = unsqueeze(span(b, x.shape[axis]), others)
        for turn in range(count):
            here = b.part("here", "equal", line, cut(places, axis, turn, 1))
            value = cut(source, axis, turn, 1) if isinstance(source, Use) else source
            new = value if join == "put" else b.part("joined", join, x, value)
            x = b.part("put", "where", here, new, x)
        return b.elementwise("copy", x, dtype=node.dtype)

    return rewrite


MOST_PLACES = 16
"""An operation for each: beyond this a sparse write would be the better way."""


def _one_hot(b: Builder, node: Node, places: Use, classes: int) -> Result:
    line = span(b, classes)
    wide = unsqueeze(places, [len(places.dims)])
    return b.elementwise("equal", wide, line, dtype=node.dtype)


RULES: tuple[Rule, ...] = (
    Rule("aten.embedding.default", _embedding),
    Rule("aten.index_select.default", _index_select),
    Rule("aten.gather.default", _gather),
    Rule("aten.index.Tensor", _index),
    Rule("aten._unsafe_index.Tensor", _index),
    Rule("aten.scatter.src", _scatter("put")),
    Rule("aten.scatter.value", _scatter("put")),
    Rule("aten.scatter_add.default", _scatter("add")),
    Rule("aten.one_hot.default", _one_hot),
)
