"""Values written at places that other tensors give."""

import math
from collections.abc import Sequence

from nkiport.contracts.graph import Node
from nkiport.lowering.builder import Builder, Operand, cut, expand, permute, unsqueeze
from nkiport.lowering.ir import Op, Use, literal
from nkiport.lowering.rules.indexing import Chosen
from nkiport.lowering.rules.made import span
from nkiport.lowering.rules.rule import Result, Rewrite, Rule

MOST_PAIRS = 2**24
"""Places by values that are compared with each other: beyond this it is a matter of seconds."""


def _scatter(join: str) -> Rewrite:
    """Along an axis: each place looks for the values that name it."""

    def rewrite(
        b: Builder, node: Node, x: Use, axis: int, places: Use, source: Operand, **_: object
    ) -> Result:
        return _scattered(b, node, x, axis, places, source, join)

    return rewrite


def _reduced(
    b: Builder, node: Node, x: Use, axis: int, places: Use, source: Use, how: str,
    *, include_self: bool = True,
) -> Result:  # fmt: skip
    joins = {"sum": "add", "amax": "maximum", "amin": "minimum"}
    if how not in joins or not include_self:
        raise NotImplementedError(f"{node.name}: scattered values joined by {how}")
    return _scattered(b, node, x, axis, places, source, joins[how])


def _scattered(
    b: Builder, node: Node, x: Use, axis: int, places: Use, source: Operand, join: str
) -> Result:
    axis %= max(len(x.dims), 1)
    others = [at for at in range(len(x.dims)) if at != axis]
    if any(places.shape[at] != x.shape[at] for at in others):
        raise NotImplementedError(f"{node.name}: places for a part of the other axes")
    if isinstance(source, Use):
        for at, size in enumerate(places.shape):
            source = cut(source, at, 0, size)
    order = [*others, axis]
    found = _joined(
        b, permute(x, order), permute(places, order),
        permute(source, order) if isinstance(source, Use) else source, join,
    )  # fmt: skip
    return b.elementwise(
        "copy", permute(found, [order.index(at) for at in range(len(order))]), dtype=node.dtype
    )


def _joined(b: Builder, x: Use, places: Use, source: Operand, join: str) -> Use:
    """Of x (..., S), places and a source (..., C): every place with every value."""
    size, count, rank = x.shape[-1], places.shape[-1], len(x.dims)
    if math.prod(x.shape) * count > MOST_PAIRS:
        raise NotImplementedError(f"{b.node}: {count} values for each of {math.prod(x.shape)}")
    line = unsqueeze(span(b, size), [*range(rank - 1), rank])
    here = b.part("here", "equal", line, unsqueeze(places, [rank - 1]))
    wide = unsqueeze(source, [rank - 1]) if isinstance(source, Use) else source
    if join == "put":
        return _put(b, x, here, wide, count)
    kind, nothing = {
        "add": ("sum", 0.0), "maximum": ("max", -math.inf), "minimum": ("min", math.inf),
    }[join]  # fmt: skip
    kept = b.part("kept", "where", here, wide, nothing)
    total = b.reduce(kind, kept, [rank], keepdim=False, name=f"{b.node}_all")
    return b.part("joined", join, x, total)


def _put(b: Builder, x: Use, here: Use, source: Operand, count: int) -> Use:
    """The last value that names a place stands there, as where they are written in order."""
    rank = len(x.dims)
    own, last = _turns(b, here, count, rank)
    named = b.part("named", "greater", b.view(last, x.shape), 0.0)
    if not isinstance(source, Use):
        return b.part("put", "where", named, source, x)
    value = b.part("value", "where", b.part("is_last", "equal", own, last), source, 0.0)
    new = b.reduce("sum", value, [rank], keepdim=False, name=f"{b.node}_new")
    return b.part("put", "where", named, new, x)


def _turns(b: Builder, here: Use, count: int, axis: int) -> tuple[Use, Use]:
    """Of those that name a place, counted from 1 along the last axis: each turn, and the last."""
    turns = unsqueeze(span(b, count, 1), range(axis))
    own = b.part("own", "where", here, turns, 0.0)
    return own, b.reduce("max", own, [axis], keepdim=True, name=f"{b.node}_last")


def _index_put(
    b: Builder, node: Node, x: Use, places: Sequence[Use | None], source: Operand,
    accumulate: bool = False, *_: object,
) -> Result:  # fmt: skip
    given = [each for each in places if each is not None]
    if any(b.dtypes[each.value] == "bool" for each in given):
        return _masked(b, node, x, places, source, accumulate=accumulate)
    chosen = Chosen.of(x, places)
    table, address = chosen.table(b, x), chosen.address(b)
    rows = _as_rows(b, chosen, source, address.shape[0]) if isinstance(source, Use) else source
    found = _added(b, table, address, rows) if accumulate else _written(b, table, address, rows)
    whole = b.view(found, (*chosen.sizes, *chosen.rest))
    order = [*chosen.axes, *chosen.others]
    back = permute(whole, [order.index(at) for at in range(len(order))])
    return b.elementwise("copy", back, dtype=node.dtype)


def _as_rows(b: Builder, chosen: Chosen, source: Use, count: int) -> Use:
    """Values that broadcast to the result of an index, as rows for its elements."""
    shape = (*chosen.shape, *chosen.rest)
    wanted = [shape[at] for at in chosen.order]
    spread = unsqueeze(source, range(len(wanted) - len(source.dims)))
    return b.view(chosen.forth(expand(spread, wanted)), (count, math.prod(chosen.rest)))


def _pairs(b: Builder, table: Use, address: Use) -> Use:
    """Which rows (K) the addresses (N) name: (K, N)."""
    rows, count = table.shape[0], address.shape[0]
    if rows * count > MOST_PAIRS:
        raise NotImplementedError(f"{b.node}: {count} places among {rows}")
    return b.part("here", "equal", unsqueeze(span(b, rows), [1]), unsqueeze(address, [0]))


def _added(b: Builder, table: Use, address: Use, rows: Operand) -> Use:
    here = _pairs(b, table, address)
    if isinstance(rows, Use):
        return b.part("joined", "add", table, _picked(b, here, rows))
    count = b.reduce("sum", here, [1], keepdim=True, name=f"{b.node}_count")
    return b.part("joined", "add", table, b.part("all", "mul", count, rows))


def _written(b: Builder, table: Use, address: Use, rows: Operand) -> Use:
    here = _pairs(b, table, address)
    own, last = _turns(b, here, address.shape[0], 1)
    named = b.part("named", "greater", last, 0.0)
    if isinstance(rows, Use):
        only = b.part("only", "mul", here, b.part("is_last", "equal", own, last))
        rows = _picked(b, only, rows)
    return b.part("put", "where", named, rows, table)


def _picked(b: Builder, here: Use, rows: Use) -> Use:
    """Sums of rows (N, R) that pairs (K, N) name: a product with zeros and ones."""
    dims = (literal(here.shape[0]), literal(rows.shape[1]))
    return b.add(Op(f"{b.node}_picked", "matmul", (here, rows), dims, "float32"))


def _masked(
    b: Builder, node: Node, x: Use, places: Sequence[Use | None], source: Operand,
    *, accumulate: bool,
) -> Result:  # fmt: skip
    """Where a mask is true stands the one value, or the one row of values, that is given."""
    *before, mask = places
    if mask is None or any(each is not None for each in before):
        raise NotImplementedError(f"{node.name}: a mask beside other places")
    behind = len(x.dims) - len(before) - len(mask.dims)
    spread = unsqueeze(mask, range(len(mask.dims), len(mask.dims) + behind))
    if isinstance(source, Use):
        if len(source.dims) > behind and source.shape[-behind - 1] != 1:
            raise NotImplementedError(f"{node.name}: a value for each place of a mask")
        if len(source.dims) > behind:
            source = b.view(source, source.shape[len(source.dims) - behind :])
    new = b.part("joined", "add", x, source) if accumulate else source
    return b.elementwise("where", spread, new, x, dtype=node.dtype)


RULES: tuple[Rule, ...] = (
    Rule("aten.scatter.src", _scatter("put")),
    Rule("aten.scatter.value", _scatter("put")),
    Rule("aten.scatter_add.default", _scatter("add")),
    Rule("aten.scatter_reduce.two", _reduced),
    Rule("aten.index_put.default", _index_put),
    Rule("aten.index_put_.default", _index_put),
)
