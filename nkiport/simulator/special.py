"""What no single instruction does: reductions over loops, and additions to rows that repeat."""

from typing import Any

import numpy as np

from nkiport.nki import OPS
from nkiport.nki.functions import ALIASES
from nkiport.simulator.errors import broken
from nkiport.simulator.machine import Machine
from nkiport.simulator.memory import Tile

Kept = dict[tuple[int, str], tuple[tuple[int, ...], Tile]]
"""What a reduction has so far, by its line and operation, and the indices it started at."""


def join_over_loops(
    machine: Machine, kept: Kept, x: Tile, op: str, indices: tuple[int, ...], dtype: Any
) -> Tile:
    """Join a tile with those of the iterations before; a new walk of the loops starts anew."""
    name = ALIASES.get(op, op)
    key = (machine.line(), name)
    first, before = kept.get(key, (indices, None))
    if before is None or indices == first:
        result = machine.call("nl.copy", x, dtype=dtype)
    else:
        result = machine.call(f"nl.{name}", before, x, dtype=dtype)
    kept[key] = (first, result)
    return result


def add_rows(machine: Machine, dst: Tile, value: Tile, op: str) -> None:
    """Add each row to the row of an HBM tensor that the index tile names; sums where they meet."""
    if ALIASES.get(op, op) != "add" or not dst.indirect:
        raise broken(
            "err_unsupported_instruction", f"atomic_rmw by {op} into {dst!r}",
            "np.add into rows that an index tile names", "index the first dimension by a tile",
        )  # fmt: skip
    places = machine.places(dst)
    old, _ = machine.read(dst, None)
    new, _ = machine.read(value, None)
    _, inverse = np.unique(places, return_inverse=True)
    sums = np.zeros(int(inverse.max()) + 1, np.float32)
    np.add.at(sums, inverse.reshape(-1), new.astype(np.float32).reshape(-1))
    machine.record(OPS["nl.store"], {"dst": dst, "value": value})
    machine.write(dst, old + sums[inverse].reshape(dst.shape))
