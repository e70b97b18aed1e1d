"""Choosing elements by bounds or by a predicate, with the largest of each row beside it."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nkiport.nki import costs
from nkiport.nki.checks import known_functions
from nkiport.nki.dtypes import Array
from nkiport.nki.functions import function
from nkiport.nki.op import Call, Problem, Table
from nkiport.nki.ops.samples import tile
from nkiport.nki.targets import Target

SELECT = Table("vector")
LOWEST = float(np.finfo(np.float32).min)
SECOND_ON = 3
"""The generation of NeuronCores that has ``range_select``."""


def _needs_generation(call: Call, target: Target) -> Iterator[Problem]:
    yield from known_functions("comp_op0", "comp_op1")(call, target)
    if target.generation < SECOND_ON:
        yield Problem(
            "err_unsupported_instruction", f"range_select on {target.name}", "trn2 and later",
            "use nisa.affine_select, or nl.where with a mask tile",
        )  # fmt: skip


def _joined(cmd: str, values: Array, op: str, kept: Array | None, start: float) -> Array | None:
    """The row's reduction, in the engine's registers if the command says so."""
    if cmd == "idle" or kept is None:
        return None
    rows = kept[: len(values)]
    if cmd in {"reset", "reset_reduce"}:
        rows[...] = start
    if cmd in {"reduce", "reset_reduce"}:
        flat = values.reshape(len(values), -1)
        part = function(op).reduce(flat, axis=1, keepdims=True)  # type: ignore[misc]
        rows[...] = function(op).run(rows, part)
    return rows.copy()


@SELECT.op(
    "nisa",
    cost=costs.streamed,
    check=_needs_generation,
    sample=lambda rng: {
        "on_true_tile": tile(rng), "comp_op0": "greater_equal", "comp_op1": "less",
        "bound0": tile(rng, columns=1) * 4, "bound1": tile(rng, columns=1) * 9,
    },
    writes=("reduce_res",),
    reduces=True,
    keeps_shape=True,
    result_dtype="first",
)  # fmt: skip
def range_select(
    on_true_tile: Array,
    comp_op0: str,
    comp_op1: str,
    bound0: Array,
    bound1: Array,
    reduce_cmd: str = "idle",
    reduce_res: Array | None = None,
    reduce_op: str = "maximum",
    range_start: Any = 0,
    on_false_value: float = LOWEST,
    accumulator: Array | None = None,
) -> tuple[Array, Array | None]:
    """Keep elements whose position in the row lies within the row's two bounds."""
    flat = on_true_tile.reshape(len(on_true_tile), -1)
    place = np.float32(range_start) + np.arange(flat.shape[1], dtype=np.float32)
    low = function(comp_op0).run(place[None, :], bound0.reshape(-1, 1))
    high = function(comp_op1).run(place[None, :], bound1.reshape(-1, 1))
    kept = np.logical_and(low != 0, high != 0)
    result = np.where(kept, flat, np.float32(on_false_value)).reshape(on_true_tile.shape)
    rows = _joined(reduce_cmd, result, reduce_op, accumulator, -np.inf)
    return result, None if reduce_res is None else rows


def _truths(rng: np.random.Generator) -> Array:
    return rng.integers(0, 2, (64, 24)).astype(np.uint8)


@SELECT.op(
    "nisa",
    cost=costs.two_inputs,
    sample=lambda rng: {
        "dst": tile(rng), "predicate": _truths(rng), "on_true": tile(rng), "on_false": tile(rng),
    },
    writes=("dst", "reduce_res"),
    reduces=True,
    keeps_shape=True,
    result=None,
    result_dtype="first",
)  # fmt: skip
def select_reduce(
    dst: Array,  # noqa: ARG001 - it is only written
    predicate: Array,
    on_true: Any,
    on_false: Any,
    reduce_res: Array | None = None,
    reduce_cmd: str = "idle",
    reduce_op: str = "maximum",
    reverse_pred: bool = False,
    accumulator: Array | None = None,
) -> tuple[None, Array, Array | None]:
    """Choose where the predicate is not zero; optionally keep the largest of each row."""
    chosen = (predicate != 0) ^ bool(reverse_pred)
    other = on_false
    if isinstance(on_false, np.ndarray) and on_false.ndim != predicate.ndim:
        other = on_false.reshape(len(on_false), *(1,) * (predicate.ndim - 1))
    result = np.where(chosen, on_true, other).astype(np.float32)
    rows = _joined(reduce_cmd, result, reduce_op, accumulator, -np.inf)
    return None, result, None if reduce_res is None else rows
