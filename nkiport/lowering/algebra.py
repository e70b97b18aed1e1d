"""Between normal form and fusion: the same values by operations that fuse better.

Each rewrite takes an operation and what was made before it, and gives the operations that replace
it, the last under its name; or None. What nothing reads any more is left out.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from nkiport.lowering.ir import Op, Program, Span, Use, fresh, literal, whole
from nkiport.lowering.normal import live
from nkiport.lowering.strides import Pattern, intervals, pieces, restride, shortest

LOWEST = -3.4028235e38
"""The least number of float32: what is subtracted from -inf without making a NaN."""


@dataclass
class Made:
    """What the program has made so far."""

    counts: Counter[str]
    """How often each value is read."""
    names: set[str]
    ops: dict[str, Op] = field(default_factory=dict)

    def by(self, use: object, kind: str) -> Op | None:
        """The operation of this kind that made an operand."""
        op = self.ops.get(use.value) if isinstance(use, Use) else None
        return op if op and op.kind == kind else None

    def once(self, use: Use) -> bool:
        """Whether this is the only place that reads the value; what a rewrite makes has one."""
        return self.counts[use.value] <= 1

    def fresh(self, name: str) -> str:
        """A name no value has."""
        return fresh(name, self.names)


Rewrite = Callable[[Op, Made], tuple[Op, ...] | None]


def rearranged(program: Program) -> Program:
    """The program after every rewrite that applies."""
    counts = Counter(use.value for use in program.outputs)
    counts.update(use.value for op in program.ops for use in op.uses)
    made = Made(counts, {*(i.name for i in program.inputs), *(op.name for op in program.ops)})
    for op in program.ops:
        for each in _rewritten(op, made):
            made.ops[each.name] = each
    kept = live(tuple(made.ops.values()), program.outputs)
    return replace(program, ops=tuple(kept))


def _rewritten(op: Op, made: Made) -> Iterator[Op]:
    for rewrite in REWRITES:
        found = rewrite(op, made)
        if found:
            for each in found:
                yield from _rewritten(each, made)
            return
    yield op


def _number_behind(op: Op, made: Made) -> tuple[Op, ...] | None:
    """A product of a multiple is the multiple of the product: a smaller pass, or a free one."""
    for side, use in enumerate(op.uses if op.kind == "matmul" else ()):
        for kind in ("mul", "div"):
            scaled = made.by(use, kind)
            if scaled is None or not made.once(use) or scaled.dtype != "float32":
                continue
            inner, number = scaled.args
            if isinstance(inner, Use) and not isinstance(number, Use):
                sides = list(op.uses)
                copied = replace(scaled, name=made.fresh(f"{scaled.name}_read"), kind="copy",
                                 args=(inner,))  # fmt: skip
                sides[side] = replace(use, value=copied.name)
                product = _product(op, made, *sides)
                return copied, product, replace(op, kind=kind, args=(_all(product), number))
    return None


def _one_number(op: Op, made: Made) -> tuple[Op, ...] | None:
    """A multiple of a multiple is one multiple."""
    inner = made.by(op.args[0], "mul") if op.kind == "mul" else None
    if inner is None or not made.once(op.uses[0]) or inner.dtype != "float32":
        return None
    first, second = inner.args[1], op.args[1]
    use = inner.args[0]
    if isinstance(first, Use) or isinstance(second, Use) or not isinstance(use, Use):
        return None
    if inner.dims != op.dims or not op.uses[0].dense:
        return None
    return (replace(op, args=(use, first * second)),)


def _rows_behind(op: Op, made: Made) -> tuple[Op, ...] | None:
    """Where rows are divided each by its number, the shorter rows of the product may be."""
    if op.kind != "matmul" or op.shape[-1] > op.uses[0].shape[-1]:
        return None
    left, right = op.uses
    cast = made.by(left, "cast")
    inner = cast.uses[0] if cast and made.once(left) and cast.uses[0].dense else left
    divided = made.by(inner, "div")
    if divided is None or not made.once(inner) or not left.dense or divided.shape[-1] == 1:
        return None
    rows, number = divided.args
    if not (isinstance(rows, Use) and rows.dense and isinstance(number, Use)):
        return None
    if number.strides[-1] != 0 or divided.shape[-1] != left.shape[-1]:
        return None
    dtype = (cast or divided).dtype
    given = Op(made.fresh(f"{divided.name}_rows"), "cast", (rows,), divided.dims, dtype)
    taken = rows.value if dtype == "float32" else given.name
    product = _product(op, made, replace(left, value=taken), right)
    dims = (*divided.dims[:-1], op.dims[-1])
    args = (whole(product.name, dims), replace(number, dims=dims))
    behind = (product, replace(op, kind="div", args=args, dims=dims))
    return behind if dtype == "float32" else (given, *behind)


def _in_place(op: Op, made: Made) -> tuple[Op, ...] | None:
    """A product reads by strides what was copied only to be in order, heads repeated or turned."""
    if op.kind != "matmul":
        return None
    read = [_through(use, made) for use in op.uses]
    if [use for use, _ in read] == [use.value for use in op.uses]:
        return None
    outer = [list(axes[:-2]) for _, axes in read]
    batch = _common([[piece for axis in each for piece in axis] for each in outer])
    if batch is None:
        return None
    sides = []
    for (value, axes), before in zip(read, op.uses, strict=True):
        flat = [piece for axis in axes[:-2] for piece in axis]
        steps = restride([n for n, _ in flat], [s for _, s in flat], batch)
        if steps is None:
            return None
        last = [axis[0][1] if axis else 0 for axis in axes[-2:]]
        dims = (*map(literal, batch), *before.dims[-2:])
        offset = before.offset if value == before.value else _offset(before, made)
        sides.append(Use(value, dims, (*steps, *last), offset))
    dims = (*map(literal, batch), *op.dims[-2:])
    return (replace(op, args=tuple(sides), dims=dims),)


def _through(use: Use, made: Made) -> tuple[str, list[Pattern]]:
    """What a use reads, and each of its dimensions as pieces; past a copy if that can be told."""
    plain = [shortest([dim]) for dim in zip(use.shape, use.strides, strict=True)]
    copy = made.by(use, "copy")
    inner = copy.args[0] if copy else None
    if not isinstance(inner, Use) or use.offset or copy is None:
        return use.value, plain
    order = sorted(range(len(use.shape)), key=lambda axis: -use.strides[axis])
    sizes = [use.shape[axis] for axis in order]
    step = math.prod(copy.shape)
    for axis, size in zip(order, sizes, strict=True):
        step //= size
        if size > 1 and use.strides[axis] != step:
            return use.value, plain
    found = pieces(inner.shape, inner.strides, sizes)
    if found is None:
        return use.value, plain
    axes: list[Pattern] = [()] * len(order)
    for axis, part in zip(order, found, strict=True):
        axes[axis] = part
    last = axes[-2:]
    near = any(part and part[0][1] == 1 for part in last)
    return (inner.value, axes) if near and all(len(p) <= 1 for p in last) else (use.value, plain)


def _offset(use: Use, made: Made) -> int:
    return made.ops[use.value].uses[0].offset


def _common(patterns: list[list[tuple[int, int]]]) -> tuple[int, ...] | None:
    """Sizes of batch dimensions along which each pattern has one stride."""
    places = {1}
    for pattern in patterns:
        below = 1
        for size, _ in reversed(shortest(pattern)):
            below *= size
            places.add(below)
    return intervals(places)


def _safe(op: Op, made: Made) -> tuple[Op, ...] | None:
    """A softmax that is 0 for a row of nothing but -inf, as attention asks for.

    Such a row differs from no number by less than inf, and its sum is 0; every other sum is at
    least 1, the exponential of the largest value's difference from itself.
    """
    if op.kind != "where" or not _zero(op.args[1], made) or not _no_number(op.args[0], made):
        return None
    softmax = made.by(op.args[2], "div")
    exp = softmax and made.by(softmax.args[0], "exp")
    total = softmax and made.by(softmax.args[1], "sum")
    shifted = exp and made.by(exp.args[0], "sub")
    if not (softmax and exp and total and shifted and softmax.uses[0].dense):
        return None
    least = shifted.uses[1]
    floor = replace(shifted, name=made.fresh(f"{op.name}_max"), kind="maximum",
                    args=(replace(least, dims=(*least.dims[:-1], ())), LOWEST),
                    dims=(*shifted.dims[:-1], ()))  # fmt: skip
    at = replace(whole(floor.name, floor.dims), dims=shifted.dims)
    from_it = replace(shifted, name=made.fresh(f"{op.name}_shifted"), args=(shifted.uses[0], at))
    power = replace(exp, name=made.fresh(f"{op.name}_exp"), args=(_all(from_it),))
    added = replace(total, name=made.fresh(f"{op.name}_sum"), args=(_all(power),))
    narrow = (*softmax.dims[:-1], ())
    one = Op(made.fresh(f"{op.name}_whole"), "maximum", (whole(added.name, narrow), 1.0), narrow,
             "float32")  # fmt: skip
    by = replace(whole(one.name, narrow), dims=softmax.dims)
    return floor, from_it, power, added, one, replace(op, kind="div", args=(_all(power), by))


def _zero(arg: object, made: Made) -> bool:
    span = made.by(arg, "span")
    detail = span.detail if span else None
    return arg == 0 or (isinstance(detail, Span) and not detail.start and not detail.step)


def _no_number(arg: object, made: Made) -> bool:
    """Whether a condition says that a row has nothing but -inf, as PyTorch asks it."""
    found = made.by(arg, "logical_not")
    for kind in ("max", "not_equal", "logical_not", "equal"):
        found = made.by(found.args[0], kind) if found else None
    return found is not None and found.args[1] == -math.inf


def _product(op: Op, made: Made, *sides: Use) -> Op:
    return replace(op, name=made.fresh(f"{op.name}_product"), args=sides, dtype="float32")


def _all(op: Op) -> Use:
    return whole(op.name, op.dims)


REWRITES: tuple[Rewrite, ...] = (
    _safe, _number_behind, _one_number, _rows_behind, _in_place,
)  # fmt: skip
"""The first that answers is taken, and what it gives is looked at again."""
