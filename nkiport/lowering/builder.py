"""Builds the normal form: shapes broadcast, views fold into operands, names stay the graph's."""

import keyword
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from nkiport.contracts.base import DType
from nkiport.lowering.ir import (
    Dim,
    Factor,
    Literal,
    Op,
    Shape,
    Use,
    literal,
    size_of,
    whole,
)
from nkiport.lowering.strides import restride

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
    dtypes: dict[str, DType] = field(default_factory=dict)
    node: str = "value"
    source: str = ""

    def fresh(self, name: str) -> str:
        """The name, or the name with the first free number."""
        base = identifier(name)
        free = base
        number = 1
        while free in self.names:
            number += 1
            free = f"{base}_{number}"
        self.names.add(free)
        return free

    def add(self, op: Op) -> Use:
        """Append an operation and read its whole result."""
        named = replace(op, name=self.fresh(op.name), source=self.source)
        self.ops.append(named)
        self.dtypes[named.name] = op.dtype
        return whole(named.name, named.dims)

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
        """Reduce over the axes; all of them if none is given."""
        rank = len(use.dims)
        gone = sorted({axis % rank for axis in axes}) if rank else []
        gone = gone or list(range(rank))
        if len(gone) == rank > 1 and not correction:
            use = self.reduce(kind, use, [rank - 1], keepdim=True, name=f"{self.node}_rows")
        order = [axis for axis in range(rank) if axis not in gone] + gone
        moved = permute(use, order)
        dims = moved.dims[: rank - len(gone)]
        op = Op(name or self.node, kind, (moved,), dims, dtype, len(gone), correction)
        result = self.add(op)
        return unsqueeze(result, gone) if keepdim else result

    def dense(self, use: Use) -> Use:
        """The use itself, or a copy that stores it in the order it is read."""
        return use if use.dense else self._copied(use)

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
        return Use(use.value, regroup(use.dims, wanted), strides)


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
    return Use(use.value, dims, strides)


def permute(use: Use, order: Sequence[int]) -> Use:
    """Read the dimensions in another order."""
    rank = len(use.dims)
    picked = [axis % rank for axis in order] if rank else []
    return Use(
        use.value,
        tuple(use.dims[axis] for axis in picked),
        tuple(use.strides[axis] for axis in picked),
    )


def unsqueeze(use: Use, axes: Iterable[int]) -> Use:
    """Insert dimensions of size 1 at the axes, which count in the result."""
    dims, strides = list(use.dims), list(use.strides)
    for axis in sorted(axes):
        dims.insert(axis, ())
        strides.insert(axis, 0)
    return Use(use.value, tuple(dims), tuple(strides))


def expand(use: Use, sizes: Sequence[int]) -> Use:
    """Repeat dimensions of size 1; -1 keeps a size."""
    missing = len(sizes) - len(use.dims)
    old = ((),) * missing + use.dims
    dims = tuple(
        dim if size in {-1, size_of(dim)} else literal(size)
        for dim, size in zip(old, sizes, strict=True)
    )
    return Use(use.value, dims, (0,) * missing + use.strides)


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
