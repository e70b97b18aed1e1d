"""The general-purpose engine: index arithmetic, selection by position, partition reductions."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nkiport.nki import costs
from nkiport.nki.checks import known_functions
from nkiport.nki.dtypes import Array, as_dtype, cast
from nkiport.nki.functions import function
from nkiport.nki.op import ON_CHIP, Call, Problem, Table
from nkiport.nki.ops.samples import tile, tiles
from nkiport.nki.targets import Target

GPSIMD = Table("gpsimd")


@GPSIMD.op(
    "nisa",
    cost=costs.general,
    sample=lambda _rng: {"expr": np.arange(64 * 24).reshape(64, 24), "dtype": "int32"},
)
def iota(expr: Array, dtype: Any) -> Array:
    """Make a tile of the values of an affine index expression."""
    return cast(np.asarray(expr), as_dtype(dtype))


def _pred_shape(call: Call, _target: Target) -> Iterator[Problem]:
    pred, tile_ = call.attributes.get("pred"), call.operands["on_true_tile"]
    shape = getattr(pred, "shape", tile_.shape)
    if np.broadcast_shapes(shape, (1,) * len(shape)) != tile_.shape:
        yield Problem(
            "err_shape_mismatch",
            f"affine_select: the predicate has shape {shape}, the tile {tile_.shape}",
            "the same shape",
            "build the predicate from index expressions of the tile's shape",
        )


@GPSIMD.op(
    "nisa",
    cost=costs.general,
    check=_pred_shape,
    sample=lambda rng: {
        "pred": np.tri(64, 24, dtype=bool),
        "on_true_tile": tile(rng),
        "on_false_value": -1.0,
    },
    memory={"on_true_tile": ON_CHIP},  # published kernels pass PSUM; the compiler copies it first
    result_dtype="first",
)
def affine_select(pred: Array, on_true_tile: Array, on_false_value: float) -> Array:
    """Keep the tile where an affine comparison of positions holds, put a number elsewhere."""
    return np.where(pred, on_true_tile, np.float32(on_false_value))


@GPSIMD.op(
    "nisa",
    cost=costs.general,
    check=known_functions("op"),
    sample=tiles("data", op="add"),
    result_dtype="first",
)
def tensor_partition_reduce(op: str, data: Array) -> Array:
    """Reduce over the partitions; slow."""
    return np.asarray(function(op).reduce(data, axis=0, keepdims=True))  # type: ignore[misc]
