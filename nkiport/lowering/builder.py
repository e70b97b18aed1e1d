"""Builds the normal form: shapes broadcast, views fold into operands, names stay the graph's."""

import keyword
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from nkiport.contracts.base import ON_DEVICE, DType
from nkiport.lowering.ir import (
    Dim,
    Factor,
    Literal,
    Op,
    Shape,
    Use,
    fresh,
    literal,
    size_of,
    whole,
)
from nkiport.lowering.strides import restride, shortest

RESERVED = frozenset(
    [
        "nl",
        "nisa",
        "nki",
        "math",
        "forward",
        "rows",
        "cols",
        "row",
        "col",
        "i_p",
        "i_f",
        "i_p1",
        "i_f1",
        "r",
        "c",
        "m",
        "n",
        "k",
        "j",
        "b",
        "out",
        "P",
        "F",
        "min",
        "col_tiles",
        "range",
        "M_TILE",
        "N_TILE",
        "depth",
        "k_tiles",
        "block",
        "blocks",
        "acc",
        "left",
        "right",
    ]
)
"""Names the emitted file uses itself."""

Operand = Use | Literal


def identifier(name: str) -> str:
    """A graph's name as a Python name that shadows nothing of the file.

    >>> identifier("blocks.0.weight"), identifier("x"), identifier("out")
    ('blocks_0_weight', 'x', 'out_')
    """
    clean = re.sub(r"\W", "_", name, flags=re.ASCII).lstrip("_") or "value"
    clean = f"v{clean}" if clean[0].isdigit() else clean
    return f"{clean}_" if clean in RESERVED or keyword.iskeyword(clean) else clean


@dataclass
class Builder:
    """Collects operations while the rules rewrite one node after another."""

    names: set[str] = field(default_factory=set)
    ops: list[Op] = field(default_factory=list)
    makers: dict[str, Op] = field(default_factory=dict)
    dtypes: dict[str, DType] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    """How many elements each value is stored with."""
    node: str = "value"
    source: str = ""

    def fresh(self, name: str) -> str:
        """The name, or the name with the first free number."""
        return fresh(identifier(name), self.names)

    def know(self, name: str, dims: tuple[Dim, ...], dtype: DType) -> None:
        """Remember how a value is stored."""
        self.dtypes[name] = dtype
        self.sizes[name] = math.prod(size_of(dim) for dim in dims)

    def kind(self, dtype: DType) -> DType:
        """The dtype a kernel stores: a NeuronCore has none of 64 bits."""
        return ON_DEVICE.get(dtype, dtype)

    def add(self, op: Op) -> Use:
        """Append an operation and read its whole result."""
        dtype = self.kind(op.dtype)
        named = replace(op, name=self.fresh(op.name), source=self.source, dtype=dtype)
        self.ops.append(named)
        self.makers[named.name] = named
        self.know(named.name, op.dims, dtype)
        return whole(named.name, named.dims)

    def argument_of(self, kind: str, use: Operand) -> Operand | None:
        """What such an operation was applied to, if it made just this; None otherwise."""
        made = self.makers.get(use.value) if isinstance(use, Use) else None
        if made is None or made.kind != kind or use != whole(made.name, made.dims):
            return None
        return made.args[0]

    def elementwise(
        self, kind: str, *args: Operand, dtype: DType = "float32", name: str = ""
    ) -> Use:
        """An element-wise operation on operands that broadcast."""
        dims = broadcast([arg.dims for arg in args if isinstance(arg, Use)])
        aligned = tuple(align(arg, dims) if isinstance(arg, Use) else arg for arg in args)
        return self.add(Op(name or self.node, kind, aligned, dims, dtype))

    def part(self, suffix: str, kind: str, *args: Operand) -> Use:
        """A step of a composed operation, named after the node and what it is."""
        return self.elementwise(kind, *args, name=f"{self.node}_{suffix}")

    def reduce(
        self,
        kind: str,
        use: Use,
        axes: Iterable[int],
        *,
        keepdim: bool,
        dtype: DType = "float32",
        correction: float = 0,
        name: str = "",
    ) -> Use:
        """Reduce over the axes; all of them if none is given.

        A kernel reduces one run of memory. What lies in several runs, or is all of a tensor, is
        reduced in steps.
        """
        rank = len(use.dims)
        gone = sorted({axis % rank for axis in axes}) if rank else []
        gone = gone or list(range(rank))
        first = _innermost_run(use, gone)
        if len(gone) == rank > 1 and not correction:
            first = first if len(first) < rank else [rank - 1]
        if len(first) < len(gone):
            whole = self._staged(kind, use, gone, first, dtype, correction, name)
            left = [size for axis, size in enumerate(use.shape) if axis not in gone]
            return whole if keepdim else self.view(whole, left)
        order = [axis for axis in range(rank) if axis not in gone] + first
        moved = permute(use, order)
        dims = moved.dims[: rank - len(gone)]
        op = Op(name or self.node, kind, (moved,), dims, dtype, len(gone), correction)
        result = self.add(op)
        return unsqueeze(result, gone) if keepdim else result

    def _staged(
        self, kind: str, use: Use, gone: list[int], first: list[int], dtype: DType,
        correction: float, name: str,
    ) -> Use:  # fmt: skip
        rest = [axis for axis in gone if axis not in first]
        joined = "sum" if kind == "mean" else kind
        part = self.reduce(joined, use, first, keepdim=True, name=f"{self.node}_rows")
        if kind != "mean":
            return self.reduce(joined, part, rest, keepdim=True, dtype=dtype, name=name)
        total = self.reduce("sum", part, rest, keepdim=True, name=f"{self.node}_total")
        count = math.prod(use.shape[axis] for axis in gone) - correction
        share = 1 / count if count > 0 else math.nan
        return self.elementwise("mul", total, share, dtype=dtype, name=name)

    def dense(self, use: Use) -> Use:
        """The use itself, or a copy that stores it in the order it is read."""
        full = math.prod(use.shape) == self.sizes[use.value]
        return use if use.dense and full else self._copied(use)

    def _copied(self, use: Use) -> Use:
        kind = self.dtypes[use.value]
        return self.elementwise("copy", use, dtype=kind, name=f"{self.node}_copy")

    def view(self, use: Use, sizes: Sequence[int]) -> Use:
        """Another shape; copies only if the elements are not stored in that order."""
        total = math.prod(use.shape)
        known = math.prod(size for size in sizes if size != -1)
        wanted = tuple(total // known if size == -1 else size for size in sizes)
        strides = restride(use.shape, use.strides, wanted)
        if strides is None:
            return self.view(self.dense(use), wanted)
        return replace(use, dims=regroup(use.dims, wanted), strides=strides)


def _innermost_run(use: Use, axes: Sequence[int]) -> list[int]:
    """Those of the axes that together are the innermost run of memory, outermost first."""
    ordered = sorted(axes, key=lambda axis: -use.strides[axis])
    shape, strides = use.shape, use.strides
    for start in range(len(ordered)):
        run = ordered[start:]
        if len(shortest((shape[axis], strides[axis]) for axis in run)) <= 1:
            return run
    return ordered


def broadcast(shapes: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
    """The dimensions of an element-wise result."""
    rank = max((len(dims) for dims in shapes), default=0)
    padded = [((),) * (rank - len(dims)) + tuple(dims) for dims in shapes]
    columns = zip(*padded, strict=True)
    return tuple(next((dim for dim in column if size_of(dim) != 1), ()) for column in columns)


def align(use: Use, dims: tuple[Dim, ...]) -> Use:
    """Read the operand along the result's dimensions, repeating where it has size 1."""
    missing = len(dims) - len(use.dims)
    strides = (0,) * missing + use.strides
    return replace(use, dims=dims, strides=strides)


def permute(use: Use, order: Sequence[int]) -> Use:
    """Read the dimensions in another order."""
    rank = len(use.dims)
    picked = [axis % rank for axis in order] if rank else []
    return replace(
        use,
        dims=tuple(use.dims[axis] for axis in picked),
        strides=tuple(use.strides[axis] for axis in picked),
    )


def unsqueeze(use: Use, axes: Iterable[int]) -> Use:
    """Insert dimensions of size 1 at the axes, which count in the result."""
    dims, strides = list(use.dims), list(use.strides)
    for axis in sorted(axes):
        dims.insert(axis, ())
        strides.insert(axis, 0)
    return replace(use, dims=tuple(dims), strides=tuple(strides))


def cut(use: Use, axis: int, start: int, size: int, step: int = 1) -> Use:
    """Read ``size`` positions of an axis from ``start`` on; a negative step reads backwards."""
    axis %= len(use.dims)
    dims, strides = list(use.dims), list(use.strides)
    offset = use.offset + start * strides[axis]
    if size != size_of(dims[axis]):
        dims[axis] = literal(size)
    strides[axis] = 0 if size == 1 else strides[axis] * step
    return replace(use, dims=tuple(dims), strides=tuple(strides), offset=offset)


def drop(use: Use, axis: int) -> Use:
    """Leave out an axis of size 1."""
    axis %= len(use.dims)
    dims, strides = list(use.dims), list(use.strides)
    del dims[axis], strides[axis]
    return replace(use, dims=tuple(dims), strides=tuple(strides))


def expand(use: Use, sizes: Sequence[int]) -> Use:
    """Repeat dimensions of size 1; -1 keeps a size."""
    missing = len(sizes) - len(use.dims)
    old = ((),) * missing + use.dims
    dims = tuple(
        dim if size in {-1, size_of(dim)} else literal(size)
        for dim, size in zip(old, sizes, strict=True)
    )
    return replace(use, dims=dims, strides=(0,) * missing + use.strides)


def regroup(dims: tuple[Dim, ...], wanted: Shape) -> tuple[Dim, ...]:
    """Give each new dimension the factors it is made of; a number where a factor is split."""
    factors = [factor for dim in dims for factor in dim]
    found: list[Dim] = []
    for size in wanted:
        rest, taken = size, []
        while rest > 1:
            factor = factors.pop(0)
            take = math.gcd(factor.size, rest)
            if take not in {factor.size, rest} or take == 1:
                return tuple(literal(each) for each in wanted)
            if take < factor.size:
                factors.insert(0, Factor(str(factor.size // take), factor.size // take))
                factor = Factor(str(take), take)
            taken.append(factor)
            rest //= take
        found.append(tuple(taken))
    return tuple(found)


def spec_dims(name: str, shape: Shape) -> tuple[Dim, ...]:
    """The dimensions of a parameter: its own shape, as the host function reads it."""
    return tuple(
        () if size == 1 else (Factor(f"{name}.shape[{axis}]", size),)
        for axis, size in enumerate(shape)
    )
