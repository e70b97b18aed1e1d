"""Reads and writes: through views and masks, with what nobody wrote kept apart."""

import math

import numpy as np

from nkiport.nki import Problem
from nkiport.nki.checks import fits_into
from nkiport.nki.dtypes import (
    BOOL,
    Array,
    cast,
    poison,
)
from nkiport.simulator.errors import broken
from nkiport.simulator.index import Box, Mask
from nkiport.simulator.memory import Tile
from nkiport.simulator.state import State
from nkiport.simulator.storage import Storage


class Access(State):
    """Moves values between tiles and arrays, and finds what breaks the rules of memory."""

    def read(self, tile: Tile, mask: Mask | None) -> tuple[Array, Array | None]:
        """Return the values, a view where possible, and where nobody wrote (None: nowhere)."""
        storage = tile.storage
        storage.was_read = True
        tile.fresh = False
        if tile.blocks:
            raise broken(
                "err_failed_to_infer_tile_from_local_tensor", f"{tile!r} used whole",
                "one tile at a time", "index all of its block dimensions",
            )  # fmt: skip
        if tile.bounds or tile.indirect:
            return self._read_part(tile, mask)
        if storage.undefined is None:
            return tile.values(), None
        undefined = tile.over(storage.undefined, BOOL)
        return tile.values(), undefined if undefined.any() else None

    def _read_part(self, tile: Tile, mask: Mask | None) -> tuple[Array, Array | None]:
        region = self._region(tile, mask)
        values = np.full(tile.shape, poison(tile.dtype), tile.dtype)
        undefined = np.ones(tile.shape, np.bool_)
        if isinstance(region, np.ndarray) or tile.indirect:
            chosen = self._dense(tile, region)
            places = self._places(tile, chosen)
            flat = tile.storage.values.reshape(-1)
            values[chosen] = flat[places]
            left = tile.storage.undefined
            undefined[chosen] = False if left is None else left.reshape(-1)[places]
        else:
            box = region if region is not None else tuple(slice(0, n) for n in tile.shape)
            values[box] = tile.values(box)
            left = tile.storage.undefined
            undefined[box] = False if left is None else tile.over(left, BOOL, box)
        return values, undefined if undefined.any() else None

    def _region(self, tile: Tile, mask: Mask | None) -> Box | Array | None:
        """The part of a view that a mask leaves, checked against the bounds."""
        if mask is None:
            tile.check_bounds(None)
            return None
        box = mask.box(tile.shape)
        if box is not None:
            tile.check_bounds(box)
            return box
        dense = mask.over(tile.shape)
        tile.check_bounds(None, dense)
        return dense

    def _dense(self, tile: Tile, region: Box | Array | None) -> Array:
        if isinstance(region, np.ndarray):
            return region
        chosen = np.zeros(tile.shape, np.bool_)
        chosen[region if region is not None else ...] = True
        return chosen

    def _places(self, tile: Tile, chosen: Array) -> Array:
        places = np.full(tile.shape, tile.offset, np.int64)
        for axis, (size, stride) in enumerate(zip(tile.shape, tile.strides, strict=True)):
            places += (stride * np.arange(size)).reshape(size, *(1,) * (tile.ndim - axis - 1))
        for values, stride, size in tile.indirect:
            rows = np.broadcast_to(values, tile.shape)
            used = rows[chosen]
            if used.size and (used.min() < 0 or used.max() >= size):
                raise broken(
                    "err_tensor_access_out_of_bound", f"row {used.min()} to {used.max()}",
                    f"0 to {size - 1}", "correct the index tile",
                )  # fmt: skip
            places += rows * stride
        result: Array = places[chosen]
        return result

    def inside(self, tile: Tile) -> None:
        """Raise if a view that is given by strides leaves its storage."""
        spans = [stride * (size - 1) for size, stride in zip(tile.shape, tile.strides, strict=True)]
        low = tile.offset + sum(min(0, span) for span in spans)
        high = tile.offset + sum(max(0, span) for span in spans)
        room = math.prod(tile.storage.shape)
        if low < 0 or high >= room:
            raise broken(
                "err_tensor_access_out_of_bound", f"an access pattern over {low} to {high}",
                f"0 to {room - 1}", "correct strides, counts and offset",
            )  # fmt: skip

    def places(self, tile: Tile) -> Array:
        """Where in its storage each element of a view lies, in order."""
        return self._places(tile, np.ones(tile.shape, np.bool_))

    def write(
        self, tile: Tile, values: Array, undefined: Array | None = None, mask: Mask | None = None
    ) -> None:
        """Write values into a view, rounding to its type and broadcasting up to its shape."""
        storage = tile.storage
        if storage.read_only:
            raise broken(
                "err_cannot_update_immutable_parameter", f"a write into the input '{storage.name}'",
                "outputs are made by the kernel",
                "nl.ndarray(..., buffer=nl.shared_hbm), return it",
            )  # fmt: skip
        if tile.blocks:
            raise broken(
                "err_failed_to_infer_tile_from_local_tensor", f"a write into {tile!r} whole",
                "one tile at a time", "index all of its block dimensions",
            )  # fmt: skip
        new = self._shaped(tile, cast(values, storage.dtype))
        left = None if undefined is None else self._shaped(tile, undefined)
        region = self._region(tile, mask)
        if not storage.written:
            self.begin(storage)
        if isinstance(region, np.ndarray) or tile.indirect:
            self._scatter(tile, new, left, self._dense(tile, region))
        elif region is None:
            tile.values()[...] = new
            self._define(tile, left, None)
        else:
            tile.values(region)[...] = new[region]
            self._define(tile, None if left is None else left[region], region)

    def _shaped(self, tile: Tile, values: Array) -> Array:
        if values.shape == tile.shape:
            return values
        if fits_into(values.shape, tile.shape):
            return np.broadcast_to(values, tile.shape)
        if values.size == tile.size and values.shape[:1] == tile.shape[:1]:
            return values.reshape(tile.shape)
        raise broken(
            "err_store_dst_shape_smaller_than_other_shape",
            f"a value of shape {values.shape} into a destination of shape {tile.shape}",
            "equal sizes, or 1 in the value", "index the destination to the value's shape",
        )  # fmt: skip

    def _scatter(self, tile: Tile, new: Array, left: Array | None, chosen: Array) -> None:
        places = self._places(tile, chosen)
        storage = tile.storage
        storage.values.reshape(-1)[places] = new[chosen]
        if storage.undefined is not None:
            flat = storage.undefined.reshape(-1)
            storage.undefined_left -= int(np.unique(places[flat[places]]).size)
            flat[places] = False
            if not storage.undefined_left:
                storage.undefined = None
        if not storage.on_chip:
            self._stamp_places(storage, places)
            self._check_defined(storage, new[chosen], None if left is None else left[chosen])

    def _define(self, tile: Tile, left: Array | None, box: Box | None) -> None:
        """Keep track of what is written, and by which iteration."""
        storage = tile.storage
        if not storage.on_chip:
            if left is not None:
                self._check_defined(storage, tile.values(box), left)
                left = None
            self._stamp(tile, box)
        if left is not None:
            if storage.undefined is None:
                storage.undefined = np.zeros(storage.shape, np.bool_)
                storage.undefined_left = 0
            part = tile.over(storage.undefined, BOOL, box)
            storage.undefined_left += int(np.count_nonzero(left)) - int(np.count_nonzero(part))
            part[...] = left
        elif storage.undefined is not None:
            part = tile.over(storage.undefined, BOOL, box)
            storage.undefined_left -= int(np.count_nonzero(part))
            part[...] = False
        if storage.undefined is not None and storage.undefined_left <= 0:
            storage.undefined = None

    def _check_defined(self, storage: Storage, values: Array, left: Array | None) -> None:
        if left is None or not left.any():
            return
        self.report(
            Problem(
                "err_undefined_read",
                f"'{storage.name or 'output'}' gets {np.count_nonzero(left)} elements"
                " that no instruction wrote",
                "only written elements are stored",
                "mask the store like the load, or fill the tile first (nl.zeros, nisa.memset)",
            ),
            "error",
        )
        del values

    def _stamp(self, tile: Tile, box: Box | None) -> None:
        storage = tile.storage
        if not self.grid and all(kind != "affine_range" for _, kind, _ in self.levels):
            return  # nothing runs beside it
        if storage.stamps is None:
            storage.stamps = np.zeros(storage.shape, np.int32)
        part = tile.over(storage.stamps, storage.stamps.dtype, box)
        self._check_stamps(storage, part)
        part[...] = self.context()

    def _stamp_places(self, storage: Storage, places: Array) -> None:
        if storage.stamps is None:
            storage.stamps = np.zeros(storage.shape, np.int32)
        flat = storage.stamps.reshape(-1)
        self._check_stamps(storage, flat[places])
        flat[places] = self.context()

    def _check_stamps(self, storage: Storage, part: Array) -> None:
        if not part.any():
            return
        one = part.min() == part.max()  # most often, and then no sort is needed
        for stamp in part.flat[:1] if one else np.unique(part):
            kind = self._conflict(int(stamp)) if stamp else ""
            if kind:
                self.report(
                    Problem(
                        "err_unexpected_output_dependencies",
                        f"two iterations of {kind} write one location of "
                        f"'{storage.name or 'the output'}'",
                        "iterations that may run in parallel write different locations",
                        "index the output by the loop variable, or use nl.sequential_range",
                    ),
                    "error",
                )
                return

    # Instructions.
