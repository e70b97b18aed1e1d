"""What the passes hand on: a program of few operations, whose operands carry how they are read.

Views, broadcasts and permutations are no operations here: a ``Use`` reads a stored value through
sizes and strides, so an operand that only looks different costs nothing.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

from nkiport.contracts.base import DType

Shape = tuple[int, ...]


class Factor(NamedTuple):
    """A size, and the text that gives it in the host function (``x.shape[0]``, or a number)."""

    text: str
    size: int


Dim = tuple[Factor, ...]
"""One dimension as a product of factors; a dimension of size 1 has none."""

Literal = bool | int | float

FP32_BYTES = 4
ITEM_BYTES: Mapping[DType, int] = {"bfloat16": 2, "float16": 2}
"""What a value takes on chip, where that is not as much as fp32."""


def item_bytes(dtype: DType) -> int:
    """Bytes that a value takes on chip."""
    return ITEM_BYTES.get(dtype, FP32_BYTES)


def literal(size: int) -> Dim:
    """A dimension whose size only the graph knows."""
    return () if size == 1 else (Factor(str(size), size),)


def size_of(dim: Dim) -> int:
    """The product of the factors."""
    return math.prod(factor.size for factor in dim)


def text_of(dim: Dim) -> str:
    """The product as Python source.

    >>> text_of((Factor("x.shape[0]", 4), Factor("x.shape[1]", 8)))
    'x.shape[0] * x.shape[1]'
    """
    return " * ".join(factor.text for factor in dim) or "1"


def fresh(name: str, taken: set[str]) -> str:
    """A name that is not taken; now it is.

    >>> taken = {"x", "x_2"}
    >>> (fresh("x", taken), fresh("y", taken), sorted(taken))
    ('x_3', 'y', ['x', 'x_2', 'x_3', 'y'])
    """
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free


@dataclass(frozen=True)
class Window:
    """How the window of a convolution or pooling moves; one number for depth, height and width.

    A convolution reads (N, C, D, H, W) and weights (O, C / groups, d, h, w) and gives (N, O, L),
    L being all positions. A pooling reads (N, C, D, H, W), joins by ``op`` and gives (N, C, L).
    """

    image: Shape
    """Depth, height and width of what is read."""
    size: Shape
    stride: Shape
    low: Shape
    """Padding before the first value."""
    dilation: Shape
    out: Shape
    """Depth, height and width of the result."""
    groups: int = 1
    op: str = "sum"


@dataclass(frozen=True)
class Piece:
    """Where one operand of an assembly goes: its first element's place, and the strides there."""

    shape: Shape
    offset: int
    strides: Shape
    fill: float | None = None
    """The number that stands in this place, where no operand does."""


@dataclass(frozen=True)
class Assembly:
    """A tensor put together from pieces that do not overlap; operands come in this order."""

    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Span:
    """The numbers of a range: start + step * position."""

    start: float
    step: float


@dataclass(frozen=True)
class Running:
    """What a scan along the last axis keeps: ``sum``, ``product``, ``max`` or ``min``."""

    op: str


@dataclass(frozen=True)
class Recurrence:
    """A recurrent layer in one direction, on (H, steps * batch) columns of hidden values.

    It reads what the inputs add to each gate (gates * H, steps * batch), the weights of the hidden
    state (gates * H, H) and the state before (H, batch), an LSTM's cell too; a GRU may read a bias
    (H, 1). An LSTM's last cell is the last ``batch`` columns of its result.
    """

    cell: str
    """``lstm``, ``gru``, ``tanh`` or ``relu``."""
    steps: int
    batch: int
    backward: bool


Detail = Window | Assembly | Span | Running | Recurrence
D = TypeVar("D", Window, Assembly, Span, Running, Recurrence)


@dataclass(frozen=True)
class Use:
    """A stored value as a consumer reads it.

    Strides and the offset count elements; a stride of 0 repeats. What is cut off or left out of a
    value needs no copy: the strides step over it.
    """

    value: str
    dims: tuple[Dim, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @cached_property
    def shape(self) -> Shape:
        """Sizes of the dimensions."""
        return tuple(size_of(dim) for dim in self.dims)

    @property
    def dense(self) -> bool:
        """Whether the elements are read in the order they are stored, each once."""
        return not self.offset and self.strides == dense_strides(self.shape)


def dense_strides(shape: Iterable[int]) -> tuple[int, ...]:
    """Strides of a dense tensor; 0 where the size is 1.

    >>> dense_strides((4, 1, 8))
    (8, 0, 1)
    """
    strides: list[int] = []
    step = 1
    for size in reversed(tuple(shape)):
        strides.append(0 if size == 1 else step)
        step *= size
    return tuple(reversed(strides))


def whole(value: str, dims: tuple[Dim, ...]) -> Use:
    """The value, read as it is stored."""
    return Use(value, dims, dense_strides(size_of(dim) for dim in dims))


def covers(pieces: Iterable[tuple[int, int]], offset: int, total: int) -> bool:
    """Whether these (size, stride) pieces reach each of ``total`` elements; repeats do no harm.

    >>> covers([(4, 1), (8, 4)], 0, 32), covers([(4, 8), (2, 0), (4, 1)], 0, 32)
    (True, False)
    """
    reached = 1
    for size, stride in sorted(pieces, key=lambda piece: piece[1]):
        if size == 1 or stride == 0:
            continue
        if stride != reached:
            return False
        reached *= size
    return not offset and reached == total


@dataclass(frozen=True)
class Op:
    """One operation of the normal form.

    Element-wise operands are aligned to the result's shape. A reduction reduces the last
    ``reduced`` dimensions of its operand, which its result lacks; a mean divides by the number of
    values less ``correction``. A matmul multiplies (..., M, K) by (..., K, N). What a kind needs to
    know beyond its operands is its ``detail``.
    """

    name: str
    kind: str
    args: tuple[Use | Literal, ...]
    dims: tuple[Dim, ...]
    dtype: DType
    reduced: int = 0
    correction: float = 0
    source: str = ""
    detail: Detail | None = None

    @cached_property
    def shape(self) -> Shape:
        """Sizes of the result."""
        return tuple(size_of(dim) for dim in self.dims)

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """The operands that are tensors."""
        return tuple(arg for arg in self.args if isinstance(arg, Use))


def detail_of(op: Op, kind: type[D]) -> D:
    """The operation's detail, which its kind says is of this type."""
    if not isinstance(op.detail, kind):
        raise TypeError(f"{op.name} ({op.kind}) has the detail {op.detail}")
    return op.detail


@dataclass(frozen=True)
class Input:
    """A parameter of the host function."""

    name: str
    dims: tuple[Dim, ...]
    dtype: DType


@dataclass(frozen=True)
class Program:
    """Operations in topological order."""

    inputs: tuple[Input, ...]
    ops: tuple[Op, ...]
    outputs: tuple[Use, ...]

    def dims_of(self, value: str) -> tuple[Dim, ...]:
        """The dimensions a value is stored with."""
        return self.stored(value).dims

    def dtype_of(self, value: str) -> DType:
        """The dtype a value is stored in."""
        return self.stored(value).dtype

    def stored(self, value: str) -> Input | Op:
        """What makes a value."""
        return self._makers[value]

    @cached_property
    def _makers(self) -> Mapping[str, Input | Op]:
        items: tuple[Input | Op, ...] = (*self.inputs, *self.ops)
        return {item.name: item for item in items}
