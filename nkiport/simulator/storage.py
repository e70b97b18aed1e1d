"""Storages: the memory of one tensor, and what is known of each element."""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from nkiport.nki.dtypes import AnyDType, Array
from nkiport.nki.op import HBM, Buffer
from nkiport.simulator.index import Index

NOTHING: Array = np.empty(0)


class ParDim(int):
    """A size that ``nl.par_dim`` marked as the partition dimension."""


class Slice(NamedTuple):
    """``nl.ds(start, size)``."""

    start: int
    size: int


class Bound(NamedTuple):
    """A dimension whose index may leave it; checked where it is used, when the mask is known."""

    at: Index
    size: int
    dimension: int


class Storage:
    """Memory of one tensor, and which of its elements nobody wrote yet."""

    __slots__ = (
        "_raw", "blocks", "buffer", "bytes", "dtype", "name", "number", "on_chip",
        "partition_bytes", "partition_stride", "placed", "read_only", "release", "shape", "stamps",
        "strides", "undefined", "undefined_left", "values", "was_read", "written",
    )  # fmt: skip

    def __init__(
        self,
        *,
        shape: tuple[int, ...],
        dtype: AnyDType,
        buffer: Buffer,
        blocks: int = 0,
        name: str = "",
    ) -> None:
        self.release: Any = None
        """What is told when nothing refers to it any more."""
        self.number = 0
        self.values = NOTHING
        """The elements, in row-major order."""
        self._raw: Array | None = None
        self.shape = shape
        self.strides, self.partition_stride, size = laid_out(shape, blocks)
        """Elements from one element, and from one partition, to the next."""
        self.dtype = dtype
        self.buffer = buffer
        self.blocks = blocks
        """How many leading dimensions are blocks: logical copies of a tile."""
        self.on_chip = buffer not in HBM
        self.partition_bytes = self.partition_stride * dtype.itemsize
        """Of one partition of one tile."""
        self.bytes = size * dtype.itemsize
        self.name = name
        self.read_only = False
        self.placed = False
        """Whether the kernel chose the address: such tensors have no initial values, so an
        accumulation in PSUM starts with its first product."""
        self.was_read = False
        self.written = False
        self.undefined: Array | None = None
        """True where nobody wrote; None once everything is written."""
        self.undefined_left = 0
        self.stamps: Array | None = None
        """Which loop iteration wrote each element of an HBM tensor."""

    @property
    def last_number(self) -> int:
        """The number of its last block."""
        return self.number + math.prod(self.shape[: self.blocks]) - 1

    @property
    def raw(self) -> Array:
        """The bytes of all elements, in order."""
        if self._raw is None:
            self._raw = self.values.reshape(-1).view(np.uint8)
        return self._raw

    def leave_undefined(self) -> None:
        """Mark every element as not written."""
        self.undefined = np.ones(self.shape, np.bool_)
        self.undefined_left = self.undefined.size

    def __del__(self) -> None:
        if self.release is not None:
            self.release(self)


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides, in elements, of a row-major array."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


@lru_cache
def laid_out(shape: tuple[int, ...], blocks: int) -> tuple[tuple[int, ...], int, int]:
    """Return the strides of a row-major array, those of its partitions, and its size."""
    return contiguous(shape), math.prod(shape[blocks + 1 :]), math.prod(shape)


class LoopIndex(int):
    """What a loop hands out: a number that knows which loop it counts."""

    loop: int
