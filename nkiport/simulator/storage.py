"""Storages: the memory of one tensor, and what is known of each element."""

import math
from typing import Any, NamedTuple

import numpy as np

from nkiport.nki.dtypes import AnyDType, Array
from nkiport.nki.op import HBM, Buffer
from nkiport.simulator.index import Index


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
    """Memory of one tensor: raw bytes, and which elements nobody wrote yet."""

    def __init__(
        self,
        *,
        number: int,
        raw: Array,
        shape: tuple[int, ...],
        dtype: AnyDType,
        buffer: Buffer,
        blocks: int = 0,
        name: str = "",
        release: Any = None,
    ) -> None:
        self.number = number
        self.raw = raw
        self.shape = shape
        self.dtype = dtype
        self.buffer = buffer
        self.blocks = blocks
        """How many leading dimensions are blocks: logical copies of a tile."""
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
        self._release = release

    @property
    def on_chip(self) -> bool:
        """Whether it is in SBUF or PSUM."""
        return self.buffer not in HBM

    @property
    def partition_stride(self) -> int:
        """Elements from one partition to the next."""
        return math.prod(self.shape[self.blocks + 1 :])

    def leave_undefined(self) -> None:
        """Mark every element as not written."""
        self.undefined = np.ones(self.shape, np.bool_)
        self.undefined_left = self.undefined.size

    def __del__(self) -> None:
        if self._release is not None:
            self._release(self)


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides, in elements, of a row-major array."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


class LoopIndex(int):
    """What a loop hands out: a number that knows which loop it counts."""

    loop: int

    @classmethod
    def of(cls, loop: int, value: int) -> "LoopIndex":
        """The value, in the loop of that number."""
        made = cls(value)
        made.loop = loop
        return made
