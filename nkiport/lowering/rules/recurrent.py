"""Recurrent layers: the steps of a layer in one direction are one operation.

The columns of what it reads and writes are steps by batch, the hidden values its rows: so each
step finds the hidden state of the one before on the partitions, and no layer has to turn it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nkiport.contracts.base import DType
from nkiport.contracts.graph import Node
from nkiport.lowering.builder import Builder, cut, permute, unsqueeze
from nkiport.lowering.ir import Op, Recurrence, Use, literal
from nkiport.lowering.rules.made import assemble
from nkiport.lowering.rules.rule import Result, Rule


@dataclass(frozen=True)
class Weights:
    """Of one layer in one direction: for the input, for the hidden state, and the two biases."""

    given: Use
    hidden: Use
    biases: tuple[Use, Use] | None


@dataclass(frozen=True)
class Walk:
    """One layer in one direction."""

    cell: str
    batch: int
    backward: bool


def _layers(
    b: Builder, node: Node, cell: str, x: Use, states: Sequence[Use], params: Sequence[Use],
    biased: bool, layers: int, both: bool, batched: bool,
) -> Result:  # fmt: skip
    """Layer on layer; those of two directions read both of the layer below."""
    ways, sizes = (2 if both else 1), (4 if biased else 2)
    batch, steps = (x.shape[0], x.shape[1]) if batched else (x.shape[1], x.shape[0])
    moved = permute(x, (2, 1, 0) if batched else (2, 0, 1))
    below = [b.view(moved, (x.shape[2], steps * batch))]
    ends: list[list[Use]] = []
    for layer in range(layers):
        found = []
        for way in range(ways):
            at = layer * ways + way
            weights = _weights(params[sizes * at : sizes * (at + 1)], biased=biased)
            start = [permute(_at(each, at), (1, 0)) for each in states]
            walk = Walk(cell, batch, backward=way == 1)
            seen, last = _walked(b, below, weights, start, walk)
            found.append(seen)
            ends.append(last)
        below = found
    out = [_sequence(b, each, steps, batch, batched=batched) for each in below]
    return _joined(b, node, out, 2, node.name), *(
        _stacked(b, node, [last[place] for last in ends], f"{node.name}_end{place}")
        for place in range(len(states))
    )


def _weights(params: Sequence[Use], *, biased: bool) -> Weights:
    given, hidden, *biases = params
    return Weights(given, hidden, (biases[0], biases[1]) if biased else None)


def _at(use: Use, place: int) -> Use:
    """One of the hidden states (layers, N, H), as (N, H)."""
    first = cut(use, 0, place, 1)
    return replace(first, dims=first.dims[1:], strides=first.strides[1:])


def _walked(
    b: Builder, below: Sequence[Use], weights: Weights, start: Sequence[Use], walk: Walk
) -> tuple[Use, list[Use]]:
    """The hidden values (H, steps * N) of a direction, and its last states (H, N)."""
    hidden, batch = weights.hidden.shape[1], walk.batch
    gates, more = _gates(b, below, weights, walk.cell)
    steps = gates.shape[1] // batch
    columns = (steps + (walk.cell == "lstm")) * batch
    uses = (b.dense(gates), b.dense(weights.hidden), *start, *more)
    dims = (literal(hidden), literal(columns))
    detail = Recurrence(walk.cell, steps, batch, walk.backward)
    made = b.add(Op(f"{b.node}_walk", "recurrence", uses, dims, "float32", detail=detail))
    seen = cut(made, 1, 0, steps * batch)
    last = cut(made, 1, 0 if walk.backward else (steps - 1) * batch, batch)
    cell = [cut(made, 1, steps * batch, batch)] if walk.cell == "lstm" else []
    return seen, [last, *cell]


def _gates(
    b: Builder, below: Sequence[Use], weights: Weights, cell: str
) -> tuple[Use, tuple[Use, ...]]:
    """What the inputs of all steps add to the gates, biases too; and a bias left for the steps.

    The new values of a GRU keep the bias of their hidden part: it is multiplied in each step.
    """
    total: Use | None = None
    start = 0
    for part in below:
        side = cut(weights.given, 1, start, part.shape[0])
        start += part.shape[0]
        dims = (side.dims[0], part.dims[1])
        product = b.add(Op(f"{b.node}_gates", "matmul", (side, part), dims, "float32"))
        total = product if total is None else b.part("gates", "add", total, product)
    assert total is not None  # noqa: S101 - there is a layer below
    if weights.biases is None:
        return total, ()
    given, kept = weights.biases
    if cell != "gru":
        return b.part("gates", "add", total, unsqueeze(b.part("bias", "add", given, kept), [1])), ()
    size = given.shape[0] // 3
    early = b.part("bias", "add", cut(given, 0, 0, 2 * size), cut(kept, 0, 0, 2 * size))
    joined = assemble(b, _named(b, (3 * size,), "biases"), (3 * size,),
                      [(early, (0,)), (cut(given, 0, 2 * size, size), (2 * size,))])  # fmt: skip
    late = b.dense(unsqueeze(cut(kept, 0, 2 * size, size), [1]))
    return b.part("gates", "add", total, unsqueeze(joined, [1])), (late,)


def _named(b: Builder, shape: tuple[int, ...], suffix: str) -> Node:
    return Node(name=f"{b.node}_{suffix}", op="", args=(), shape=shape, dtype="float32")


def _sequence(b: Builder, seen: Use, steps: int, batch: int, *, batched: bool) -> Use:
    """Hidden values (H, steps * N) as (N, steps, H) or (steps, N, H)."""
    deep = b.view(seen, (seen.shape[0], steps, batch))
    return permute(deep, (2, 1, 0) if batched else (1, 2, 0))


def _joined(b: Builder, node: Node, parts: Sequence[Use], axis: int, name: str) -> Use:
    if len(parts) == 1:
        return _cast(b, parts[0], node.dtype, name)
    size, rank = parts[0].shape[axis], len(parts[0].dims)
    shape = tuple(n * len(parts) if a == axis else n for a, n in enumerate(parts[0].shape))
    places = [[size * n if a == axis else 0 for a in range(rank)] for n in range(len(parts))]
    inner = node.model_copy(update={"name": name, "shape": shape})
    return assemble(b, inner, shape, list(zip(parts, places, strict=True)))


def _cast(b: Builder, use: Use, dtype: DType, name: str) -> Use:
    return use if dtype == "float32" else b.elementwise("cast", use, dtype=dtype, name=name)


def _stacked(b: Builder, node: Node, lasts: Sequence[Use], name: str) -> Use:
    """Last states (H, N) of each layer and direction as (layers, N, H)."""
    turned = [unsqueeze(permute(each, (1, 0)), [0]) for each in lasts]
    return _joined(b, node, turned, 0, name)


RULES: tuple[Rule, ...] = (Rule("nkiport.recurrent.default", _layers),)
