"""The newer dialect (``nki``): the same operations, written into destinations that are given.

Its instructions take ``dst`` and return nothing. The meaning, the limits and the cost of an
instruction are those of the tables; what is here is how it is called.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from nkiport.nki import OPS
from nkiport.simulator.errors import broken
from nkiport.simulator.machine import Machine
from nkiport.simulator.memory import Tile
from nkiport.simulator.namespace import BoundOp, token

COMMON = (
    "activation", "activation_reduce", "bn_aggr", "bn_stats", "dma_transpose", "dropout",
    "local_gather", "max8", "nc_find_index8", "nc_match_replace8", "nc_transpose", "range_select",
    "reciprocal", "scalar_tensor_tensor", "sequence_bounds", "tensor_copy",
    "tensor_partition_reduce", "tensor_reduce", "tensor_scalar", "tensor_scalar_reduce",
    "tensor_tensor", "tensor_tensor_scan",
)  # fmt: skip
"""Instructions that give a result, which here goes to ``dst``."""
SAME = ("dma_copy", "nc_stream_shuffle", "select_reduce", "tensor_copy_predicated")
"""Instructions that were given their destination before."""
UNUSED = frozenset({"priority", "dge_mode", "oob_mode", "perf_mode", "name", "engine"})


class Into:
    """An instruction whose result is written to its first argument."""

    def __init__(self, machine: Machine, name: str) -> None:
        self._machine = machine
        self._inner = BoundOp(OPS[f"nisa.{name}"], machine)

    def __call__(self, dst: Tile, *args: Any, **kwargs: Any) -> None:
        """Run it and write its result, cast to the destination's type."""
        given = {name: value for name, value in kwargs.items() if name not in UNUSED}
        self._machine.assign(dst, self._inner(*args, **given, dtype=dst.dtype))


class Instructions:
    """``nki.isa``: what is called in another way than before."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._multiplied: set[tuple[Any, ...]] = set()

    def nc_matmul(
        self, dst: Tile, stationary: Tile, moving: Tile, *, accumulate: bool | None = None,
        **others: Any,
    ) -> None:  # fmt: skip
        """Multiply into PSUM. Unless told, the first product of a place overwrites, later ones add.

        Raises a finding for an accumulation onto what no product wrote.
        """
        place = (dst.storage.number, dst.offset, dst.shape)
        adds = place in self._multiplied if accumulate is None else accumulate
        if adds and place not in self._multiplied:
            raise broken(
                "err_psum_accumulation", "accumulate=True onto what no product wrote",
                "the first product of a place overwrites", "leave accumulate out",
            )  # fmt: skip
        given = {n: each for n, each in others.items() if n not in UNUSED - {"perf_mode"}}
        product = BoundOp(OPS["nisa.nc_matmul"], self._machine)(stationary, moving, **given)
        if adds:
            self._machine.accumulate("add", dst, product)
        else:
            self._machine.assign(dst, product)
        self._multiplied.add(place)

    def memset(self, dst: Tile, value: Any, **_others: Any) -> None:
        """Fill with one number."""
        self._machine.execute_fill(dst, value)

    def iota(
        self, dst: Tile, pattern: Any, offset: int = 0, channel_multiplier: int = 0, **_others: Any
    ) -> None:
        """Write offset + partition * channel_multiplier + the sum of index * step."""
        values = affine(dst, pattern, offset, channel_multiplier)
        call = {"expr": values, "dtype": dst.dtype}
        self._machine.assign(dst, self._machine.execute(OPS["nisa.iota"], call))

    def affine_select(
        self, dst: Tile, pattern: Any, channel_multiplier: int = 0, on_true_tile: Any = None,
        on_false_value: Any = 0.0, cmp_op: Any = "equal", offset: int = 0, **_others: Any,
    ) -> None:  # fmt: skip
        """Keep the tile where an affine value compares with 0 as it should."""
        values = affine(dst, pattern, offset, channel_multiplier)
        pred = COMPARED[token(cmp_op)](values, 0)
        call = {"pred": pred, "on_true_tile": on_true_tile, "on_false_value": on_false_value}
        done = self._machine.execute(OPS["nisa.affine_select"], call, dtype=dst.dtype)
        self._machine.assign(dst, done)

    def dma_compute(
        self, dst: Tile, srcs: Any, reduce_op: Any = "add", scales: Any = None, **_others: Any
    ) -> None:
        """Join sources on their way to the destination."""
        total: Any = None
        for place, source in enumerate(srcs):
            part = self._machine.call("nl.load", source) if not source.storage.on_chip else source
            if scales is not None:
                part = self._machine.call("nl.multiply", part, scales[place])
            joined = f"nl.{token(reduce_op)}"
            total = part if total is None else self._machine.call(joined, total, part)
        BoundOp(OPS["nisa.dma_copy"], self._machine)(dst, total)

    def nc_n_gather(self, dst: Tile, data: Tile, indices: Tile, **_others: Any) -> None:
        """Take elements of each row at that row's indices."""
        found = self._machine.call("nl.gather_flattened", data, indices, dtype=dst.dtype)
        self._machine.assign(dst, found)

    def register_alloc(self, x: int | None = None) -> "Register":
        """Make a register, with a number if one is given."""
        return Register(int(x or 0))

    def register_move(self, dst: "Register", src: Any) -> None:
        """Copy a register or a number."""
        dst.value = int(src)

    def register_load(self, dst: "Register", src: Tile) -> None:
        """Read the one element of a tile."""
        dst.value = src.number()

    def register_store(self, dst: Tile, src: "Register") -> None:
        """Write a register to a tile."""
        self._machine.execute_fill(dst, int(src))


class Register:
    """An engine's register: a number that instructions read, and Python does not reckon with."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


COMPARED: dict[str, Callable[[Any, int], Any]] = {
    "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal,
}  # fmt: skip


def affine(dst: Tile, pattern: Any, offset: int, channel_multiplier: int) -> Any:
    """The affine values of a destination, by pairs of step and count over its free dimensions."""
    counts = [int(count) for _, count in pattern]
    rows = dst.shape[0]
    if math.prod(counts) != math.prod(dst.shape[1:]):
        raise broken(
            "err_shape_mismatch", f"a pattern of {counts} for a tile of {dst.shape}",
            "counts whose product is the free size",
        )  # fmt: skip
    values = np.full((rows, *counts), int(offset), np.int64)
    values += (channel_multiplier * np.arange(rows)).reshape(rows, *(1,) * len(counts))
    for axis, (step, count) in enumerate(pattern):
        behind = len(counts) - axis - 1
        values += (int(step) * np.arange(count)).reshape(1, *(1,) * axis, count, *(1,) * behind)
    return values.reshape(dst.shape)


def instructions(machine: Machine) -> dict[str, Any]:
    """The instructions of the newer dialect by name."""
    own = Instructions(machine)
    return {
        **{name: Into(machine, name) for name in COMMON},
        **{name: BoundOp(OPS[f"nisa.{name}"], machine) for name in SAME},
        **{name: getattr(own, name) for name in dir(own) if not name.startswith("_")},
    }


def fori_loop(
    lower: Any, upper: Any, body: Callable[[Any], Any], step: int = 1, *, machine: Machine
) -> None:
    """Run the body for each number from lower up to upper."""
    for index in machine.loop("sequential_range", int(lower), int(upper), int(step)):
        body(index)


def while_loop(init: Any, body: Callable[[], Any], *, machine: Machine) -> None:
    """Run the body while the register it gives is not 0."""
    going = init
    while int(going):
        machine.tick()
        going = body()
