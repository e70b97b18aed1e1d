"""The second pass: operations that can share one pass over the same tiles become one group.

A group has one iteration space: any number of outer loops, then rows (the partitions) and columns
(the free dimension). Reductions go over all columns. A group on an anchor (a product, a
convolution, a pooling) is that anchor and element-wise operations on its result.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from nkiport.lowering.ir import Op, Program, Use, covers
from nkiport.lowering.parts import Parts
from nkiport.lowering.rules import ANCHORS, REDUCTIONS, SOLO
from nkiport.lowering.strides import Pattern, boundaries, intervals, project, spread


@dataclass(frozen=True)
class Access:
    """How a group reads or writes a stored value: the interval's stride at each place.

    A stride is 0 where the value repeats, and None where the space has size 1. The offset is where
    the first element lies.
    """

    value: str
    strides: tuple[int | None, ...]
    offset: int = 0


@dataclass(frozen=True)
class Group:
    """Operations fused over one space; ``sizes`` are outermost first, rows and columns last."""

    ops: tuple[Op, ...]
    sizes: tuple[int, ...]
    reads: Mapping[Use, Access]
    """How each operand from outside lies over the space."""
    results: Mapping[str, Access]
    """How the result of each operation lies over the space."""
    stored: tuple[str, ...]
    """Results that something outside needs."""

    @property
    def base(self) -> Op | None:
        """The operation that has a kernel of its own, if the group is built on one."""
        return next((op for op in self.ops if op.kind in ANCHORS | SOLO), None)

    @property
    def reduces(self) -> bool:
        """Whether rows are reduced in it."""
        return any(op.kind in REDUCTIONS for op in self.ops)

    @property
    def name(self) -> str:
        """What the group is called: its last stored result."""
        return self.stored[-1]


def fuse(program: Program) -> tuple[Group, ...]:
    """Group the operations, each exactly once, in an order that can be run."""
    users = users_of(program)
    parts = Parts()
    for op in program.ops:
        for chosen in parts.choices(op):
            joined = (*(each for i in chosen for each in parts[i]), op)
            if build(joined, users) is not None:
                parts.join(chosen, joined)
                break
        else:
            parts.add(op)
    groups = [build(part, users) for part in parts.all()]
    return tuple(group for group in groups if group is not None)


class Fused(Protocol):
    """What runs as one kernel."""

    @property
    def ops(self) -> tuple[Op, ...]:
        """Its operations, in an order that can be run."""
        ...


def unfused(program: Program, groups: Sequence[Fused]) -> tuple[str, ...]:
    """Operations that are in no group, in two, or before something they need."""
    counts = Counter(op.name for group in groups for op in group.ops)
    wrong = [op.name for op in program.ops if counts[op.name] != 1]
    ready = {item.name for item in program.inputs}
    for group in groups:
        made = {op.name for op in group.ops}
        outside = {use.value for op in group.ops for use in op.uses} - made
        wrong += sorted(outside - ready)
        ready |= made
    return tuple(wrong)


def users_of(program: Program) -> Mapping[str, frozenset[str]]:
    """Which operations read each value; an empty name is an output of the program."""
    users: dict[str, set[str]] = {}
    for op in program.ops:
        for use in op.uses:
            users.setdefault(use.value, set()).add(op.name)
    for use in program.outputs:
        users.setdefault(use.value, set()).add("")
    return {value: frozenset(names) for value, names in users.items()}


def build(
    ops: Sequence[Op], users: Mapping[str, frozenset[str]], *, rowed: bool = False
) -> Group | None:
    """The group of these operations, or None if they cannot share a space.

    ``rowed`` allows reductions of whole rows after an anchor.
    """
    if any(op.kind in SOLO for op in ops):
        return _alone(ops)
    ops = _ordered(ops)
    names = {op.name for op in ops}
    patterns = _patterns(ops, names, rowed=rowed)
    if patterns is None:
        return None
    outside = _outside(ops, names, patterns)
    if outside is None:
        return None
    sizes = _space(ops, [*patterns.values(), *outside.values()])
    if sizes is None:
        return None
    results = {name: _access(name, patterns[name], sizes) for name in patterns}
    stored = tuple(op.name for op in ops if users[op.name] - names)
    if not all(_storable(results[name]) for name in stored):
        return None
    reads = {use: _access(use.value, at, sizes, use.offset) for use, at in outside.items()}
    return Group(tuple(ops), sizes, reads, results, stored)


def _alone(ops: Sequence[Op]) -> Group | None:
    """Such an operation shares its kernel with no other."""
    if len(ops) > 1:
        return None
    (op,) = ops
    whole = _access(op.name, _full(math.prod(op.shape)), op.shape)
    return Group((op,), op.shape, {}, {op.name: whole}, (op.name,))


def _ordered(ops: Sequence[Op]) -> list[Op]:
    """Topological order; joined groups may come interleaved."""
    waiting, done = list(ops), list[Op]()
    while waiting:
        pending = {op.name for op in waiting}
        ready = next(op for op in waiting if not pending & {use.value for use in op.uses})
        waiting.remove(ready)
        done.append(ready)
    return done


def _patterns(ops: Sequence[Op], names: set[str], *, rowed: bool) -> dict[str, Pattern] | None:
    """The pattern of every result over the whole space; None on a conflict or an open one."""
    if not _anchored_well(ops, names, rowed=rowed) or not _whole(ops):
        return None
    total = max(math.prod(_widest(op)) for op in ops)
    found: dict[str, Pattern] = {}
    for _ in ops:
        before = dict(found)
        for op in (*ops, *reversed(ops)):
            if not _spread_pattern(op, names, total, found):
                return None
        if found == before:
            break
    return found if names == set(found) else None


def _whole(ops: Sequence[Op]) -> bool:
    """Whether what the group computes is read whole within it: a tile holds no part of a value."""
    sizes = {op.name: math.prod(op.shape) for op in ops}
    return all(
        covers(zip(use.shape, use.strides, strict=True), use.offset, sizes[use.value])
        for op in ops
        for use in op.uses
        if use.value in sizes
    )


def _anchored_well(ops: Sequence[Op], names: set[str], *, rowed: bool) -> bool:
    """An anchor is alone of its kind: nothing before it, and no reduction but of its rows after."""
    anchors = [op for op in ops if op.kind in ANCHORS]
    if not anchors:
        return True
    inside = any(use.value in names for use in anchors[0].uses)
    reduced = {math.prod(op.uses[0].shape[-op.reduced :]) for op in ops if op.kind in REDUCTIONS}
    alone = len(anchors) == 1 and not inside
    return alone and reduced <= ({anchors[0].shape[-1]} if rowed else set())


def _widest(op: Op) -> tuple[int, ...]:
    return op.uses[0].shape if op.kind in REDUCTIONS else op.shape


def _spread_pattern(op: Op, names: set[str], total: int, found: dict[str, Pattern]) -> bool:
    """Learn what this operation says about patterns; False if it contradicts."""
    full = _full(total)
    if op.kind in REDUCTIONS:
        use = op.uses[0]
        if math.prod(use.shape) != total:
            return False
        columns = math.prod(use.shape[len(use.shape) - op.reduced :])
        kept = tuple(piece for piece in ((total // columns, 1), (columns, 0)) if piece[0] > 1)
        known = found.setdefault(op.name, kept) == kept
        return known and _require(use, project(full, use.shape, use.strides), names, found)
    if math.prod(op.shape) == total and found.setdefault(op.name, full) != full:
        return False
    if op.kind in ANCHORS:
        return True
    if op.name not in found:
        _from_operand(op, found)
    if op.name not in found:
        return True
    return all(
        _require(use, project(found[op.name], op.shape, use.strides), names, found)
        for use in op.uses
    )


def _from_operand(op: Op, found: dict[str, Pattern]) -> None:
    """A narrow result lies where the operand of the same size does."""
    for use in op.uses:
        same = use.value in found and 0 not in _sized(use)
        if same:
            found[op.name] = found[use.value]
            return


def _sized(use: Use) -> tuple[int, ...]:
    return tuple(step for size, step in zip(use.shape, use.strides, strict=True) if size > 1)


def _require(use: Use, at: Pattern | None, names: set[str], found: dict[str, Pattern]) -> bool:
    if at is None:
        return False
    return use.value not in names or found.setdefault(use.value, at) == at


def _outside(
    ops: Sequence[Op], names: set[str], patterns: Mapping[str, Pattern]
) -> dict[Use, Pattern] | None:
    """Patterns of the operands that other groups or the inputs give."""
    found: dict[Use, Pattern] = {}
    for op in ops:
        for use in () if op.kind in ANCHORS else op.uses:
            if use.value in names:
                continue
            at = project(_read_pattern(op, patterns), _widest(op), use.strides)
            if at is None:
                return None
            found[use] = at
    return found


def _read_pattern(op: Op, patterns: Mapping[str, Pattern]) -> Pattern:
    """The pattern along which an operation reads: its result's, or what it reduces."""
    if op.kind not in REDUCTIONS:
        return patterns[op.name]
    return _full(math.prod(op.uses[0].shape))


def _full(total: int) -> Pattern:
    return ((total, 1),) if total > 1 else ()


def _space(ops: Sequence[Op], patterns: Sequence[Pattern]) -> tuple[int, ...] | None:
    """Sizes of the space, rows and columns last; None if no such space holds every pattern."""
    places = frozenset(place for pattern in patterns for place in boundaries(pattern))
    anchor = next((op for op in ops if op.kind in ANCHORS), None)
    if anchor:
        return anchor.shape if places <= _edges(anchor.shape) else None
    total = max(math.prod(_widest(op)) for op in ops)
    reduced = {math.prod(op.uses[0].shape[-op.reduced :]) for op in ops if op.kind in REDUCTIONS}
    if reduced:
        columns = reduced.pop()
        return None if reduced else _rows_and_columns(places | {total}, columns)
    plain = intervals(places | {total})
    if plain is None:
        return None
    named = intervals(places | {total, _last_dimension(ops)})
    return max([*_cuts(plain or (1,)), *([named] if named and len(named) > 1 else [])], key=_fill)


def _edges(sizes: Sequence[int]) -> frozenset[int]:
    return frozenset(math.prod(sizes[axis:]) for axis in range(len(sizes)))


def _rows_and_columns(places: frozenset[int], columns: int) -> tuple[int, ...] | None:
    """The space of a reduction over the innermost ``columns`` elements."""
    if any(1 < place < columns or place % columns for place in places if place > 1):
        return None
    above = intervals({place // columns for place in places if place >= columns})
    return None if above is None else (*(above or (1,)), columns)


def _cuts(sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Spaces whose innermost interval is cut into rows and columns."""
    *outer, inner = sizes
    wide = [n for n in range(1, min(inner, MOST_COLUMNS) + 1) if inner % n == 0]
    whole = [sizes] if outer else []
    return [*whole, *((*outer, inner // columns, columns) for columns in wide)]


MOST_COLUMNS = 2048
"""Longer runs make no DMA quicker."""
ENOUGH = 512
"""Elements of a run (2 KiB of fp32) from which on a DMA is quick."""


def _fill(sizes: Sequence[int]) -> tuple[int, int, int]:
    """How much of a good tile is filled, how few loops there are, how soon the first tile comes."""
    rows, columns = sizes[-2:]
    return min(rows, 128) * min(columns, ENOUGH), -len(sizes), -columns


def _last_dimension(ops: Sequence[Op]) -> int:
    shape = max((op.shape for op in ops), key=math.prod)
    return shape[-1] if shape else 1


def _access(value: str, at: Pattern, sizes: Sequence[int], offset: int = 0) -> Access:
    strides = spread(at, sizes)
    steps = tuple(None if size == 1 else step for size, step in zip(sizes, strides, strict=True))
    return Access(value, steps, offset)


def _storable(access: Access) -> bool:
    """Whether each tile of rows writes its own elements: only the columns may be reduced."""
    return 0 not in access.strides[:-1]
