"""Other views of a tile: reshaped, repeated, permuted, or by an access pattern of one's own."""

import math
from typing import Any

import numpy as np

from nkiport.nki.checks import fits_into, squeezed
from nkiport.nki.dtypes import as_dtype
from nkiport.simulator.errors import broken
from nkiport.simulator.storage import Storage, contiguous


class Views:
    """What a tile offers besides indexing; every method returns a tile over the same storage.

    ``self`` is a tile: a view of one, which only ``memory`` knows how to make.
    """

    __slots__ = ()

    def broadcast_to(self: Any, *shape: Any) -> Any:
        """Return a view (a copy, over partitions) with size-1 dimensions repeated."""
        new = tuple(shape[0]) if isinstance(shape[0], tuple | list) else shape
        old = squeezed(self.shape, len(new))
        if not fits_into(old, new):
            raise broken(
                "err_shape_mismatch", f"broadcast {self.shape} to {new}", "sizes of 1 grow"
            )
        if self.shape and new[0] != self.shape[0] and self.storage.on_chip:
            return self.machine.call("nl.broadcast_to", self, shape=new)
        before = len(new) - len(old)
        grown = (1,) * before + old
        strides = (0,) * before + self.strides[: len(old)]
        kept = tuple(0 if a != b else s for a, b, s in zip(grown, new, strides, strict=True))
        return self._view(new, kept)

    def expand_dims(self: Any, axis: int) -> Any:
        """Return a view with a dimension of size 1 at ``axis``."""
        at = axis % (self.ndim + 1)
        return self._view(
            (*self.shape[:at], 1, *self.shape[at:]), (*self.strides[:at], 0, *self.strides[at:])
        )

    def reshape(self: Any, *sizes: Any, shape: Any = None) -> Any:
        """Return a view of another shape; the data must be contiguous."""
        given = (shape,) if shape is not None else sizes
        new = tuple(given[0]) if isinstance(given[0], tuple | list) else given
        if -1 in new:
            rest = -math.prod(new)
            new = tuple(self.size // rest if each == -1 else each for each in new)
        if math.prod(new) != self.size or not self._is_contiguous():
            raise broken(
                "err_shape_mismatch", f"reshape {self.shape} to {new}",
                "the same number of elements, in memory order", "reshape before indexing",
            )  # fmt: skip
        return self._view(new, contiguous(new))

    def ap(
        self: Any, pattern: Any, offset: int = 0, scalar_offset: Any = None,
        vector_offset: Any = None, indirect_dim: int = 0, **_others: Any,
    ) -> Any:  # fmt: skip
        """Return a view by pairs of stride and count over the storage, in elements.

        The first pair is the partitions on chip. ``scalar_offset`` moves all by a number that data
        gives, ``vector_offset`` each row by its own, both along ``indirect_dim``.
        """
        shape = tuple(int(count) for _, count in pattern)
        strides = tuple(int(stride) if n > 1 else 0 for (stride, _), n in
                        zip(pattern, shape, strict=True))  # fmt: skip
        start = self.offset + int(offset)
        if scalar_offset is not None:
            tile: Any = scalar_offset
            at = int(tile.number() if hasattr(tile, "number") else tile)
            start += at * self.strides[indirect_dim]
        if self.storage.on_chip and len(shape) == 1:
            shape, strides = (*shape, 1), (*strides, 0)
        new = type(self)(self.machine, self.storage, shape, strides, start, 0, self.bounds)
        stride = self.storage.partition_stride
        if self.storage.on_chip and stride:
            new.start = start // stride % self.storage.shape[self.storage.blocks]
        self.machine.inside(new)
        if vector_offset is not None:
            rows, _ = self.machine.read(vector_offset, None)
            places = rows.astype(np.int64).reshape(-1, *(1,) * (len(shape) - 1))
            step, size = self.strides[indirect_dim], self.shape[indirect_dim]
            new.indirect = ((places, step, size),)
        return new

    def permute(self: Any, *order: Any) -> Any:
        """Return a view with the dimensions in another order; on chip the first one stays."""
        axes = tuple(order[0]) if isinstance(order[0], tuple | list) else order
        if self.storage.on_chip and axes[0] != 0:
            raise broken(
                "err_unsupported_index", f"permute{axes} of {self!r}", "dimension 0 first",
                "partitions stay: use nisa.nc_transpose",
            )  # fmt: skip
        return self._view(
            tuple(self.shape[axis] for axis in axes), tuple(self.strides[axis] for axis in axes)
        )

    def view(self: Any, dtype: Any) -> Any:
        """Return the same bytes as another type of the same size."""
        new = as_dtype(dtype)
        old = self.storage
        if new.itemsize != old.dtype.itemsize:
            raise broken(
                "err_shape_mismatch", f"a view of {old.dtype.name} as {new.name}",
                "a type of the same size", "use astype to convert",
            )  # fmt: skip
        storage = Storage(
            shape=old.shape, dtype=new, buffer=old.buffer, blocks=old.blocks, name=old.name
        )
        storage.number, storage.values = old.number, old.values.view(new)
        storage.undefined, storage.undefined_left = old.undefined, old.undefined_left
        return type(self)(
            self.machine, storage, self.shape, self.strides, self.offset, self.blocks, (),
            self.start,
        )  # fmt: skip

    def assert_shape(self: Any, shape: Any) -> Any:
        """Return the tile; a finding if it has another shape."""
        if tuple(shape) != self.shape:
            raise broken("err_annotation_shape_mismatch", f"shape {tuple(shape)}", f"{self.shape}")
        return self
