"""Tensors read at places that other tensors give."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nkiport.contracts.graph import Node
from nkiport.lowering.builder import Builder, align, broadcast, permute, unsqueeze
from nkiport.lowering.ir import Op, Shape, Use, literal, size_of
from nkiport.lowering.rules.made import span
from nkiport.lowering.rules.rule import Result, Rule

LONGEST = 8192
"""Elements of a row that are picked from in SBUF: 32 KiB of fp32, and there twice."""


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
    """Within rows where the axis is the last one and a row fits SBUF.

    Else each element by its own address: the axis gives one part of it, the others theirs.
    """
    axis %= max(len(x.dims), 1)
    if axis == len(x.dims) - 1 and x.shape[:-1] == places.shape[:-1] and x.shape[-1] <= LONGEST:
        table, taken = (b.dense(b.view(each, (-1, each.shape[-1]))) for each in (x, places))
        found = Op(node.name, "pick", (table, taken), taken.dims, b.dtypes[table.value])
        return b.view(b.add(found), node.shape)
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
        return _one_by_one(b, node, x, places)
    for axis, each in given:
        line = b.view(each, (-1,))
        shape = (*x.shape[:axis], line.shape[0], *x.shape[axis + 1 :])
        inner = node.model_copy(update={"name": f"{node.name}_axis{axis}", "shape": shape})
        x = _by_places(b, inner, x, axis, line)
    return x


def _one_by_one(b: Builder, node: Node, x: Use, places: Sequence[Use | None]) -> Result:
    """Each element of the index tensors is a row of a table of what the axes left over hold."""
    chosen = Chosen.of(x, places)
    rows = _rows(b, chosen.table(b, x), chosen.address(b), node.name)
    return chosen.back(b.view(rows, (*chosen.shape, *chosen.rest)))


@dataclass(frozen=True)
class Chosen:
    """Axes that index tensors name, and how their elements lie in the result.

    The result has the index tensors' common shape in the place of the axes, or in front of all
    others where the axes do not follow each other.
    """

    axes: tuple[int, ...]
    others: tuple[int, ...]
    sizes: Shape
    """Sizes of the chosen axes."""
    rest: Shape
    places: tuple[Use, ...]
    shape: Shape
    """What the index tensors broadcast to."""

    @staticmethod
    def of(x: Use, places: Sequence[Use | None]) -> "Chosen":
        """Of the index tensors of a call, one for each axis or None."""
        axes = tuple(axis for axis, each in enumerate(places) if each is not None)
        others = tuple(axis for axis in range(len(x.dims)) if axis not in axes)
        given = tuple(each for each in places if each is not None)
        shape = tuple(size_of(dim) for dim in broadcast([each.dims for each in given]))
        return Chosen(
            axes, others, tuple(x.shape[a] for a in axes), tuple(x.shape[a] for a in others),
            given, shape,
        )  # fmt: skip

    def table(self, b: Builder, x: Use) -> Use:
        """The values as rows (chosen axes together, the others together)."""
        moved = permute(x, (*self.axes, *self.others))
        return b.view(b.dense(moved), (math.prod(self.sizes), math.prod(self.rest)))

    def address(self, b: Builder) -> Use:
        """The row of each element of the index tensors (N,), as int32."""
        total: Use | None = None
        dims = tuple(map(literal, self.shape))
        for place, size, step in zip(self.places, self.sizes, _steps(self.sizes), strict=True):
            counted = _counted(b, place, size)
            term = b.part("along", "mul", counted, float(step))
            total = term if total is None else b.part("address", "add", total, term)
        assert total is not None  # noqa: S101 - one index tensor at least
        whole = b.elementwise("cast", align(total, dims), dtype="int32", name=f"{b.node}_place")
        return b.view(whole, (-1,))

    @property
    def order(self) -> list[int]:
        """Where the axes of (index shape, others) go in the result."""
        deep, first = len(self.shape), self.axes[0]
        together = self.axes == tuple(range(first, first + len(self.axes)))
        before = first if together else 0
        own = list(range(deep))
        over = list(range(deep, deep + len(self.others)))
        return [*over[:before], *own, *over[before:]]

    def back(self, use: Use) -> Use:
        """(index shape, others) in the order of the result."""
        return permute(use, self.order)

    def forth(self, use: Use) -> Use:
        """The result's order as (index shape, others)."""
        order = self.order
        return permute(use, [order.index(at) for at in range(len(order))])


def _steps(sizes: Shape) -> Shape:
    """How far apart neighbours of each axis lie, of one element too."""
    return tuple(math.prod(sizes[axis + 1 :]) for axis in range(len(sizes)))


def _counted(b: Builder, line: Use, size: int) -> Use:
    """Places from the start, where some count from the end."""
    behind = b.part("from_end", "add", line, float(size))
    return b.part("counted", "where", b.part("negative", "less", line, 0.0), behind, line)


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
    whole = _counted(b, line, x.shape[axis])
    flat = b.view(b.elementwise("cast", whole, dtype="int32", name=f"{b.node}_place"), (-1,))
    return taken(b, node, x, axis, flat)


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
    Rule("aten.one_hot.default", _one_hot),
)
