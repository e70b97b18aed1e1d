"""What no single instruction does: reductions over loops, and additions to rows that repeat."""

from typing import Any

import numpy as np

from nkiport.nki import OPS
from nkiport.nki.functions import ALIASES
from nkiport.simulator.errors import broken
from nkiport.simulator.machine import Machine
from nkiport.simulator.memory import Tile
from nkiport.simulator.storage import LoopIndex

Kept = dict[tuple[int, str, tuple[int, ...]], tuple[int, Tile]]
"""What a reduction has so far: by its line, its operation and the iteration of the loops that it
does not run over; with the outermost loop that it does."""


def join_over_loops(
    machine: Machine, kept: Kept, x: Tile, op: str, indices: tuple[Any, ...], *,
    dtype: Any = None, mask: Any = None,
) -> Tile:  # fmt: skip
    """Join a tile with those of the iterations before.

    A new walk of the outermost named loop starts anew. One of an inner loop does not: it is walked
    again in each iteration of the outer ones, and other loops may lie between them.
    """
    name = ALIASES.get(op, op)
    loops = frozenset(each.loop for each in indices if isinstance(each, LoopIndex))
    others = tuple(i for number, _, i in machine.levels if number not in loops)
    outermost = next((number for number, _, _ in machine.levels if number in loops), 0)
    key = (machine.line(), name, others)
    before = kept.get(key)
    if before is None or before[0] != outermost:
        result = machine.call("nl.copy", x, dtype=dtype)
    else:
        joined = {"x": before[1], "y": x}
        result = machine.execute(OPS[f"nl.{name}"], joined, dtype=dtype, mask=mask)
        if mask is not None:  # what it leaves out stays as it was
            masked, result = result, machine.call("nl.copy", before[1])
            machine.assign(result, masked)
    kept[key] = (outermost, result)
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
