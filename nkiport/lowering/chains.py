"""The pass after fusion: groups that hand each other whole rows become one kernel.

A product gives scores, a group of row operations makes weights of them, a second product reads
the weights: as long as a row of scores fits on chip, nothing of its size goes through HBM.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from nkiport.lowering.causal import without_triangle
from nkiport.lowering.chain import Chain, together
from nkiport.lowering.fusion import Access, Group
from nkiport.lowering.ir import FP32_BYTES, Op, Program, Use, covers, dense_strides
from nkiport.lowering.respace import none_at_one, respaced, whole
from nkiport.lowering.strides import intervals, restride
from nkiport.lowering.tiling import BUFFERS, even, most_alive
from nkiport.nki import Target

Sizes = tuple[int, ...]
Part = Group | Chain


def chained(
    program: Program, groups: Sequence[Group], target: Target
) -> tuple[Program, tuple[Part, ...]]:
    """The groups, with those joined that make a chain, and the program of what they compute."""
    readers = _readers(program, groups)
    parts: list[Part | None] = list(groups)
    for at in range(len(groups)):
        found = _chain(groups, at, readers)
        if found is None:
            continue
        chain, members = found
        if _bytes(chain, target) <= target.sbuf_bytes and _shaped(chain, target):
            parts[at] = _causal(program, chain, target)
            for member in members:
                parts[member] = None
    return _needed(program, [part for part in parts if part is not None])


def _needed(program: Program, parts: list[Part]) -> tuple[Program, tuple[Part, ...]]:
    """Without what nothing reads: a mask, once a chain knows what it hides."""
    needed = {use.value for use in program.outputs}
    kept: list[Part] = []
    for part in reversed(parts):
        if needed & set(part.stored):
            kept.insert(0, part)
            needed |= {use.value for op in part.ops for use in op.uses}
    names = {op.name for part in kept for op in part.ops}
    return replace(program, ops=tuple(op for op in program.ops if op.name in names)), tuple(kept)


def _causal(program: Program, chain: Chain, target: Target) -> Chain:
    """The chain that leaves out what a mask would hide, where it can tell."""
    if any(access.strides[-1] != 0 for access in chain.weights.reads.values()):
        return chain
    *_, rows, keys = chain.scores.sizes
    tile = even(keys, target.partitions)
    if tile != even(rows, target.partitions):
        return chain
    found = without_triangle(program, chain.scores, tile)
    if found is None:
        return chain
    scores, hidden = found
    weights = _renamed(chain.weights, chain.scores.ops[-1].name, scores.ops[-1].name)
    return replace(chain, scores=scores, weights=weights, hidden=hidden)


def _renamed(group: Group, old: str, new: str) -> Group:
    """The group that reads another value of the same shape."""
    ops = tuple(
        replace(op, args=tuple(
            replace(arg, value=new) if isinstance(arg, Use) and arg.value == old else arg
            for arg in op.args
        ))
        for op in group.ops
    )  # fmt: skip
    results = {new if name == old else name: lies for name, lies in group.results.items()}
    return replace(group, ops=ops, results=results)


def _readers(program: Program, groups: Sequence[Group]) -> Mapping[str, frozenset[int]]:
    """Which groups read each value; -1 is an output of the program."""
    found: dict[str, set[int]] = {}
    for at, group in enumerate(groups):
        for op in group.ops:
            for use in op.uses:
                found.setdefault(use.value, set()).add(at)
    for use in program.outputs:
        found.setdefault(use.value, set()).add(-1)
    return {value: frozenset(where) for value, where in found.items()}


def _chain(
    groups: Sequence[Group], at: int, readers: Mapping[str, frozenset[int]]
) -> tuple[Chain, list[int]] | None:
    """The chain whose second product is the group at this place, and the places of the others."""
    maker = {name: place for place, group in enumerate(groups) for name in group.stored}
    values = groups[at]
    middle = _maker_of_left(values, maker)
    weights = groups[middle] if middle is not None else None
    if middle is None or weights is None or weights.base is not None:
        return None
    if any(not readers[name] <= {middle, at} for name in weights.stored):
        return None
    first = _product_read_by(weights, groups, maker)
    if first is None or any(readers[n] != {middle} for n in groups[first].stored):
        return None
    copy = _copy_of(groups, values, readers)
    ends = [copy] if copy is not None else []
    joined = _joined(groups[first], weights, values, groups[copy] if copy is not None else None)
    return (joined, [first, middle, *ends]) if joined else None


def _maker_of_left(values: Group, maker: Mapping[str, int]) -> int | None:
    """Where the left operand of a product is made, if all of it is read in order."""
    base = values.base
    if base is None or base.kind != "matmul" or len(values.stored) != 1:
        return None
    left, right = base.uses
    return maker.get(left.value) if left.dense and left.value != right.value else None


def _product_read_by(
    weights: Group, groups: Sequence[Group], maker: Mapping[str, int]
) -> int | None:
    """The group on a product whose rows, as wide, the row operations read in order."""
    total = whole("", weights.sizes).strides
    for use, access in weights.reads.items():
        place = maker.get(use.value)
        base = groups[place].base if place is not None else None
        if base is None or base.kind != "matmul" or len(groups[place or 0].stored) != 1:
            continue
        same = math.prod(groups[place or 0].sizes) == math.prod(weights.sizes)
        if same and access.strides == total and base.shape[-1] == weights.sizes[-1]:
            return place
    return None


def _copy_of(
    groups: Sequence[Group], values: Group, readers: Mapping[str, frozenset[int]]
) -> int | None:
    """The group that does nothing but to store the result in another order."""
    (only, *others) = readers[values.name]
    if others or only < 0 or len(groups[only].ops) != 1:
        return None
    (op,) = groups[only].ops
    use = op.uses[0] if op.kind == "copy" and op.uses else None
    total = math.prod(values.sizes)
    if use is None or math.prod(use.shape) != total:
        return None
    pieces = list(zip(use.shape, use.strides, strict=True))
    return only if covers(pieces, use.offset, total) else None


def _joined(scores: Group, weights: Group, values: Group, copy: Group | None) -> Chain | None:
    """The chain of these groups, over the coarsest batch that suits all of them."""
    *_, rows, keys = scores.sizes
    width = values.sizes[-1]
    if values.sizes[-2] != rows or values.base is None or values.base.uses[0].shape[-1] != keys:
        return None
    order = _order(copy.ops[0]) if copy else None
    batch = _batch(scores, weights, values, order)
    if batch is None:
        return None
    over, beside = (*batch, rows, keys), (*batch, rows, width)
    spaced = [respaced(group, over) for group in (scores, weights)]
    last = respaced(values, beside)
    if last is None or spaced[0] is None or spaced[1] is None:
        return None
    if copy and order:
        steps = restride([n for n, _ in order], [s for _, s in order], beside)
        if steps is None:
            return None
        last = _stored_as(last, copy.ops[0], steps)
    first = replace(spaced[0], stored=())
    given = {name: whole(name, over) for name in scores.stored}
    middle = _handed(spaced[1], given)
    narrow = {name: spaced[1].results[name] for name in weights.stored}
    return _checked(first, middle, last, narrow)


def _checked(first: Group, middle: Group, last: Group, made: Mapping[str, Access]) -> Chain | None:
    """The chain, if the last group reads of the rows what lies in its own rows."""
    base = last.base
    for use, access in last.reads.items():
        if use.value not in made:
            continue
        lies = made[use.value].strides
        if access.strides[:-1] != tuple(lies[:-1]) or lies[-1] != 0 or access.strides[-1] != 0:
            return None
    weights = base.uses[0].value if base else ""
    if made[weights] != whole(weights, middle.sizes):
        return None
    inside = {name: lies for name, lies in made.items() if name != weights}
    return Chain(first, replace(middle, stored=tuple(made)), _handed(last, inside))


def _handed(group: Group, given: Mapping[str, Access]) -> Group:
    """The group with these values in its tiles instead of in HBM."""
    reads = {use: access for use, access in group.reads.items() if use.value not in given}
    return replace(group, reads=reads, results={**group.results, **given})


def _order(op: Op) -> list[tuple[int, int]]:
    """Sizes and strides of a copy's result, in the order its operand lies in memory."""
    use, steps = op.uses[0], dense_strides(op.shape)
    lies = sorted(zip(use.strides, use.shape, steps, strict=True), key=lambda each: -each[0])
    return [(size, step) for _, size, step in lies if size > 1]


def _stored_as(group: Group, op: Op, steps: Sizes) -> Group:
    """The group with the copy, which costs nothing but other addresses."""
    strides = none_at_one(steps, group.sizes)
    results = {**group.results, op.name: Access(op.name, strides)}
    return replace(group, ops=(*group.ops, op), results=results, stored=(op.name,))


def _batch(
    scores: Group, weights: Group, values: Group, order: list[tuple[int, int]] | None
) -> Sizes | None:
    """Sizes of the batch dimensions: every boundary of the groups' spaces is kept."""
    *_, rows, keys = scores.sizes
    width = values.sizes[-1]
    places = {1}
    for sizes, below in (
        (scores.sizes, rows * keys),
        (weights.sizes, rows * keys),
        (values.sizes, rows * width),
        ([size for size, _ in order or ()], rows * width),
    ):
        inner = 1
        for size in reversed(sizes):
            inner *= size
            if inner >= below:
                places.add(inner // below)
                if inner % below:
                    return None
    return intervals(places)


def _shaped(chain: Chain, target: Target) -> bool:
    """Whether the depth is cut into equal tiles, and a result's row fits one bank."""
    first, last = chain.scores.base, chain.values.base
    depth = first.uses[0].shape[-1] if first else 0
    fits = depth % even(depth, target.partitions) == 0
    return fits and last is not None and last.shape[-1] <= target.moving_fmax


def _bytes(chain: Chain, target: Target) -> int:
    """What a partition holds: keys and values of a head, rows of scores, and small tiles."""
    *_, rows, keys = chain.scores.sizes
    width = chain.values.sizes[-1]
    base = chain.scores.base
    depth = base.uses[0].shape[-1] if base else 0
    tiles = math.ceil(keys / target.partitions)
    parts = math.ceil(depth / target.partitions)
    stack, heads = together(chain, target)
    turned = tiles * min(rows, target.partitions)
    held = heads // stack * parts * keys + heads * (tiles * width + turned + keys)
    shared = sum(a.strides[-2] == 0 for a in {*chain.scores.reads.values()})
    wide = (most_alive(chain.weights) + 1 + shared) * keys
    small = (len(chain.ops) + 4) * target.moving_fmax
    return BUFFERS * FP32_BYTES * (held + wide + small)
