"""Tiles: views of a storage. Indexing a tile moves no data."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nkiport.nki.dtypes import AnyDType, Array
from nkiport.nki.op import Buffer, Operand
from nkiport.simulator.bounds import moved_left, out_of_bounds, span_of, tight
from nkiport.simulator.errors import broken
from nkiport.simulator.index import Box, Index, Mask, Term, as_mask, shrunk
from nkiport.simulator.storage import Bound, Slice, Storage, contiguous
from nkiport.simulator.views import Views

if TYPE_CHECKING:
    from nkiport.simulator.machine import Machine


class Tile(Views):
    """A strided view of a storage; what a kernel calls a tensor or a tile."""

    __slots__ = (
        "blocks",
        "bounds",
        "fresh",
        "indirect",
        "machine",
        "mask",
        "offset",
        "part_of",
        "seen",
        "shape",
        "start",
        "storage",
        "strides",
    )  # fmt: skip
    __iter__ = None
    __hash__ = object.__hash__

    def __init__(
        self,
        machine: "Machine",
        storage: Storage,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int = 0,
        blocks: int = 0,
        bounds: tuple[Bound, ...] = (),
        start: int = 0,
    ) -> None:
        self.machine = machine
        self.storage = storage
        self.shape = shape
        self.strides = strides
        self.offset = offset
        self.blocks = blocks
        self.bounds = bounds
        self.start = start
        """The first partition."""
        self.indirect: tuple[tuple[Array, int, int], ...] = ()
        """For each index taken from memory: its values, the stride, the size of the dimension."""
        self.mask: Mask | None = None
        """The mask of the instruction that made it: only there was anything written."""
        self.part_of: tuple[Tile, Mask] | None = None
        """The tile that a mask in the brackets left this of, and the mask."""
        self.seen: Operand | None = None
        """How the rules see it, once they have."""
        self.fresh = False
        """Whether it is an instruction's result that nothing used yet."""

    # What a kernel may ask.

    @property
    def dtype(self) -> AnyDType:
        """The element type."""
        return self.storage.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.storage.dtype.itemsize

    @property
    def buffer(self) -> Buffer:
        """The memory it is in."""
        return self.storage.buffer

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<{self.buffer} tile {self.shape} {self.dtype.name}>"

    def __bool__(self) -> bool:
        raise broken(
            "err_dynamic_control_flow_not_supported", f"a condition on the data of {self!r}",
            "conditions use shapes, loop variables and numbers", "use nl.where or mask=",
        )  # fmt: skip

    def astype(self, dtype: Any) -> "Tile":
        """Return a copy of another type."""
        return self.machine.call("nl.copy", self, dtype=dtype)

    # Indexing.

    def __getitem__(self, key: Any) -> "Tile":
        keys = key if isinstance(key, tuple) and not isinstance(key, Slice) else (key,)
        if len(keys) == 1 and isinstance(keys[0], Mask | bool):
            return self._masked(as_mask(keys[0]))
        keys = self._without_ellipsis(keys)
        if any(isinstance(each, Index | Tile) for each in keys):
            return self._advanced(keys)
        return self._basic(keys)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.machine.assign(self[key], value)

    def _without_ellipsis(self, keys: tuple[Any, ...]) -> tuple[Any, ...]:
        given = sum(1 for each in keys if each is not None and each is not Ellipsis)
        if given > self.ndim:
            raise broken("err_tensor_access_out_of_bound", f"{given} indices of {self!r}")
        if not any(each is Ellipsis for each in keys):
            return keys
        at = next(i for i, each in enumerate(keys) if each is Ellipsis)
        return (*keys[:at], *(slice(None),) * (self.ndim - given), *keys[at + 1 :])

    def _basic(self, keys: tuple[Any, ...]) -> "Tile":
        keys = (*keys, *(slice(None),) * (self.ndim - sum(1 for k in keys if k is not None)))
        offset, blocks, dim, first = self.offset, self.blocks, 0, self.start
        axes: list[tuple[int, int, int, int, int]] = []  # size, stride, start, step, dimension
        fixed: list[tuple[int, int]] = []
        for each in keys:
            if each is None:
                axes.append((1, 0, 0, 0, -1))
                continue
            limit, stride = self.shape[dim], self.strides[dim]
            start, size, step, keep = span_of(each, limit)
            if self.storage.on_chip and dim == self.blocks:
                keep, first = True, first + self._partitions(start, dim)
            offset += start * stride
            if keep:
                axes.append((size, stride * step, start, step, dim))
            else:
                fixed.append((start, dim))
                blocks -= dim < self.blocks
            dim += 1
        if len(axes) == (1 if self.storage.on_chip else 0):
            axes.append((1, 0, 0, 0, -1))
        bounds = tuple(self._bounds_of(axes, fixed))
        shape, strides = tuple(a[0] for a in axes), tuple(a[1] for a in axes)
        return Tile(self.machine, self.storage, shape, strides, offset, blocks, bounds, first)

    def _partitions(self, count: int, dim: int) -> int:
        """How many partitions so many steps along a dimension are."""
        stride = self.storage.partition_stride
        return count * self.strides[dim] // stride if self.storage.on_chip and stride else 0

    def _bounds_of(self, axes: Any, fixed: Any) -> Iterator[Bound]:
        for position, (size, _stride, start, step, dim) in enumerate(axes):
            if dim >= 0 and (start < 0 or start + (size - 1) * step >= self.shape[dim]):
                term = Term(position - len(axes), size, step)
                yield Bound(Index(len(axes), start, (term,)), self.shape[dim], dim)
        for start, dim in fixed:
            if not 0 <= start < self.shape[dim]:
                yield Bound(Index(len(axes), start, ()), self.shape[dim], dim)

    def _advanced(self, keys: tuple[Any, ...]) -> "Tile":
        offset, bounds, indirect = self.offset, [], []
        steps: dict[int, int] = {}
        sizes: dict[int, int] = {}
        first = min(self.blocks, len(keys) - 1)
        indices = tight([self._as_index(each, dim) for dim, each in enumerate(keys)], first)
        ndim = max(each.ndim for each in indices)
        for dim, index in enumerate(indices):
            if isinstance(index, Tile):
                values, _ = self.machine.read(index, None)
                places = values.astype(np.int64)
                if math.prod(index.shape[1:]) == 1:  # rows: one for each partition
                    places = places.reshape(-1, *(1,) * (ndim - 1))
                indirect.append((places, self.strides[dim], self.shape[dim]))
                for axis, size in enumerate(places.shape, -places.ndim):
                    sizes[axis] = max(size, sizes.get(axis, 1))
                continue
            offset += index.offset * self.strides[dim]
            for term in index.terms:
                known = sizes.get(term.axis, 1)
                if known != term.size and 1 not in {known, term.size}:
                    raise broken(
                        "err_shape_mismatch", f"index sizes {known} and {term.size} on one axis",
                        "equal sizes, or 1", "give each nl.arange its own axis with None",
                    )  # fmt: skip
                sizes[term.axis] = max(known, term.size)
                step = term.step * self.strides[dim] if term.size > 1 else 0
                steps[term.axis] = steps.get(term.axis, 0) + step
            if index.low < 0 or index.high >= self.shape[dim]:
                bounds.append(Bound(index, self.shape[dim], dim))
        rest = len(keys)
        shape = tuple(sizes.get(a, 1) for a in range(-ndim, 0)) + self.shape[rest:]
        strides = tuple(steps.get(a, 0) for a in range(-ndim, 0)) + self.strides[rest:]
        moved = self.ndim - rest
        if moved:
            bounds = [b._replace(at=moved_left(b.at, moved)) for b in bounds]
        result = Tile(
            self.machine, self.storage, shape, strides, offset, max(0, self.blocks - rest),
            tuple(bounds), self.start,
        )  # fmt: skip
        if self.blocks < rest and isinstance(indices[first], Index):
            result.start += self._partitions(indices[first].offset, first)
        result.indirect = tuple(indirect)
        return result

    def _as_index(self, each: Any, dim: int) -> "Index | Tile":
        if isinstance(each, Tile):
            if self.storage.on_chip and each.size == 1:
                return Index(0, each.number(), ())
            if self.storage.on_chip:
                raise broken(
                    "err_copy_dynamic_indirect_indices_not_natively_supported",
                    f"{self!r} indexed by the tile {each!r}", "indirect rows of HBM tensors",
                    "load the rows from HBM with the index tile",
                )  # fmt: skip
            return each
        if isinstance(each, Index):
            if each.ndim == 1:
                raise broken(
                    "err_1d_arange_not_supported", "an index of one dimension",
                    "a partition axis and free axes", "write nl.arange(n)[:, None] or [None, :]",
                )  # fmt: skip
            return each
        if isinstance(each, int | np.integer):
            return Index(0, int(each), ())
        if each == slice(None) and self.shape[dim] == 1:
            return Index(0, 0, ())
        raise broken(
            "err_unsupported_mixing_basic_advanced_tensor_indexing",
            f"dimension {dim} is indexed by {each!r} beside an nl.arange",
            "all of one kind", "use nl.arange (or nl.mgrid) for every dimension",
        )  # fmt: skip

    def _masked(self, mask: Mask) -> "Tile":
        box = mask.box(self.shape)
        if box is None:
            raise broken(
                "err_unsupported_expression_in_mask", "a tile indexed by a mask of two axes",
                "a mask that selects whole rows or columns", "use mask= or nl.where",
            )  # fmt: skip
        shape = tuple(each.stop - each.start for each in box)
        offset = sum(s * each.start for s, each in zip(self.strides, box, strict=True))
        made = self._view(shape, self.strides, self.offset + offset)
        made.start += self._partitions(box[0].start, 0)
        whole, before = self.part_of or (self, Mask(()))
        made.part_of = (whole, before & mask)
        return made

    def _view(
        self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int | None = None
    ) -> "Tile":
        start = self.offset if offset is None else offset
        new = Tile(self.machine, self.storage, shape, strides, start, 0, self.bounds, self.start)
        new.indirect = self.indirect
        return new

    def _is_contiguous(self) -> bool:
        pairs = zip(self.shape, self.strides, contiguous(self.shape), strict=True)
        return all(size == 1 or a == b for size, a, b in pairs)

    # What the machine asks.

    def over(self, raw: Array, dtype: AnyDType, box: Box | None = None) -> Array:
        """Return this view of an array that lies like the storage; no bounds are checked."""
        offset, shape = self.offset, self.shape
        if box is not None:
            offset += sum(s * each.start for s, each in zip(self.strides, box, strict=True))
            shape = tuple(each.stop - each.start for each in box)
            if 0 in shape:
                return np.empty(shape, dtype)
        size = dtype.itemsize
        strides = tuple(s * size for s in self.strides)
        return np.ndarray(shape, dtype, raw, offset * size, strides)

    def values(self, box: Box | None = None) -> Array:
        """Return the elements, as a view."""
        storage = self.storage
        if box is None and self.strides is storage.strides and self.shape is storage.shape:
            return storage.values
        return self.over(storage.raw, storage.dtype, box)

    def number(self) -> int:
        """Return the one element, as an index: a place that data gives while the kernel runs."""
        return int(self.machine.read(self, None)[0].reshape(-1)[0])

    @property
    def room(self) -> int:
        """The number of the tile it is part of; each block of a tensor is a tile of its own."""
        storage = self.storage
        if not storage.blocks:
            return storage.number
        return storage.number + self.offset // math.prod(storage.shape[storage.blocks :])

    def flat(self) -> "Tile":
        """Return the same elements without block dimensions, to be written at once."""
        return self._view(self.shape, self.strides)

    def operand(self) -> Operand:
        """Return how the rules see it."""
        if self.seen is None:
            storage, start, step = self.storage, 0, 1
            if storage.on_chip and self.shape:
                stride = storage.partition_stride
                start, step = self.start, self.strides[0] // stride if stride else 1
            self.seen = Operand(self.shape, storage.dtype, storage.buffer, start, step)
        return self.seen

    def check_bounds(self, box: Box | None, mask: Array | None = None) -> None:
        """Raise if an index leaves its dimension inside the box, or where the mask is true."""
        for bound in self.bounds:
            whole = tuple(slice(0, size) for size in self.shape)
            if mask is None:
                ends = list(shrunk(bound.at, whole if box is None else box))
            else:
                used = np.broadcast_to(bound.at.values(), mask.shape)[mask]
                ends = [(int(used.min()), int(used.max()))] if used.size else []
            for low, high in ends:
                if low < 0 or high >= bound.size:
                    raise out_of_bounds(self.storage, bound, low, high)

    # Operators.

    def _binary(self, name: str, a: Any, b: Any) -> "Tile | Index":
        tiles = [each for each in (a, b) if isinstance(each, Tile)]
        if name == "add" and isinstance(a, Index) ^ isinstance(b, Index) and tiles[0].size == 1:
            return (a if isinstance(a, Index) else b) + tiles[0].number()
        if len(tiles) > 1 and a.shape[:1] != b.shape[:1]:
            raise broken(
                "err_num_partition_mismatch", f"an operator on shapes {a.shape} and {b.shape}",
                "operators do not broadcast over partitions", f"use nl.{name}, or broadcast_to",
            )  # fmt: skip
        return self.machine.call(f"nl.{name}", a, b)

    def _in_place(self, name: str, other: Any) -> "Tile":
        self.machine.accumulate(name, self, other)
        return self


def _add_operators() -> None:
    """Give ``Tile`` the operators, each the ``nl`` function of its name."""
    names = {
        "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
        "lshift": "left_shift", "rshift": "right_shift", "and": "bitwise_and",
        "or": "bitwise_or", "xor": "bitwise_xor", "pow": "power", "mod": "mod",
    }  # fmt: skip
    for short, name in names.items():
        setattr(Tile, f"__{short}__", lambda a, b, n=name: a._binary(n, a, b))  # noqa: SLF001
        setattr(Tile, f"__r{short}__", lambda a, b, n=name: a._binary(n, b, a))  # noqa: SLF001
        setattr(Tile, f"__i{short}__", lambda a, b, n=name: a._in_place(n, b))  # noqa: SLF001
    compared = {
        "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
        "eq": "equal", "ne": "not_equal",
    }  # fmt: skip
    for short, name in compared.items():
        setattr(Tile, f"__{short}__", lambda a, b, n=name: a._binary(n, a, b))  # noqa: SLF001
    for short, name in {"neg": "negative", "invert": "invert", "abs": "abs"}.items():
        setattr(Tile, f"__{short}__", lambda a, n=name: a.machine.call(f"nl.{n}", a))


_add_operators()
