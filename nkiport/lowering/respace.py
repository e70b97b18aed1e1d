"""Groups over other dimensions: the same elements, divided anew."""

from collections.abc import Sequence
from dataclasses import replace

from nkiport.lowering.fusion import Access, Group
from nkiport.lowering.ir import Op, Use, dense_strides, literal
from nkiport.lowering.strides import restride

Sizes = tuple[int, ...]


def respaced(group: Group, sizes: Sizes) -> Group | None:
    """The group over a space with the same elements in other dimensions; None if it has none."""
    reads = {use: _respaced(access, group.sizes, sizes) for use, access in group.reads.items()}
    results = {name: _respaced(lies, group.sizes, sizes) for name, lies in group.results.items()}
    ops = [_rebatched(op, sizes[:-2]) if op is group.base else op for op in group.ops]
    if None in reads.values() or None in results.values() or None in ops:
        return None
    return replace(
        group,
        ops=tuple(op for op in ops if op),
        sizes=sizes,
        reads={use: access for use, access in reads.items() if access},
        results={name: access for name, access in results.items() if access},
    )


def _respaced(access: Access, old: Sizes, new: Sizes) -> Access | None:
    steps = restride(old, [step or 0 for step in access.strides], new)
    return replace(access, strides=none_at_one(steps, new)) if steps is not None else None


def _rebatched(op: Op, batch: Sizes) -> Op | None:
    """The product with its operands read along other batch dimensions."""
    sides = []
    for use in op.uses:
        steps = restride(use.shape[:-2], use.strides[:-2], batch)
        if steps is None:
            return None
        dims = (*map(literal, batch), *use.dims[-2:])
        sides.append(Use(use.value, dims, (*steps, *use.strides[-2:]), use.offset))
    return replace(op, args=tuple(sides), dims=(*map(literal, batch), *op.dims[-2:]))


def whole(name: str, sizes: Sizes) -> Access:
    """A value that lies dense over these sizes."""
    return Access(name, none_at_one(dense_strides(sizes), sizes))


def none_at_one(steps: Sequence[int], sizes: Sequence[int]) -> tuple[int | None, ...]:
    """Strides, of which those along one element do not matter."""
    return tuple(None if size == 1 else step for size, step in zip(sizes, steps, strict=True))
