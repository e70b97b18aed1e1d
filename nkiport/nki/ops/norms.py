"""The vector engine: batch statistics, and normalisations that are one call."""

from typing import Any

import numpy as np

from nkiport.nki import costs
from nkiport.nki.checks import (
    free_axes,
)
from nkiport.nki.dtypes import Array
from nkiport.nki.op import Call, Op, Problem, Table
from nkiport.nki.ops.samples import tile, tiles
from nkiport.nki.targets import Target

NORMS = Table("vector")


def _bn_limit(call: Call, target: Target) -> Any:
    size = call.operands["data"].free
    if size > target.bn_stats_fmax:
        yield Problem(
            "err_size_of_dimension_exceed_arch_limit",
            f"bn_stats: 'data' has {size} elements per partition",
            f"at most {target.bn_stats_fmax}",
            "take statistics of parts and join them with nisa.bn_aggr",
        )


@NORMS.op("nisa", cost=costs.streamed, sample=tiles("data"), check=_bn_limit, reduces=True)
def bn_stats(data: Array) -> Array:
    """Count, mean and variance times count of the even elements, then of the odd ones."""
    rows = data.reshape(data.shape[0], -1)
    parts = []
    for part in (rows[:, 0::2], rows[:, 1::2]):
        size = part.shape[1]
        mean = part.mean(axis=1) if size else np.zeros(len(part), np.float32)
        spread = part.var(axis=1) * size if size else np.zeros(len(part), np.float32)
        parts += [np.full(len(part), size, np.float32), mean, spread]
    return np.stack(parts, axis=1).astype(np.float32)


def _triples(call: Call, _target: Target) -> Any:
    size = call.operands["data"].free
    if size % 3:
        yield Problem(
            "err_shape_mismatch",
            f"bn_aggr: 'data' has {size} elements per partition",
            "a multiple of 3: count, mean, variance times count",
            "give it results of nisa.bn_stats",
        )


@NORMS.op(
    "nisa",
    cost=costs.times(13 / 3),
    sample=lambda rng: {"data": bn_stats.run(tile(rng))},
    check=_triples,
)
def bn_aggr(data: Array) -> Array:
    """Join the statistics of bn_stats into one mean and one population variance."""
    rows = data.reshape(data.shape[0], -1, 3)
    counts, means, spreads = rows[..., 0], rows[..., 1], rows[..., 2]
    total = counts.sum(axis=1)
    mean = (counts * means).sum(axis=1) / total
    spread = spreads.sum(axis=1) + (counts * (means - mean[:, None]) ** 2).sum(axis=1)
    return np.stack([mean, spread / total], axis=1).astype(np.float32)


def _softmax(x: Array, axis: Any, compute_dtype: Any = None) -> Array:  # noqa: ARG001
    axes = tuple(axis) if isinstance(axis, tuple | list) else (axis,)
    powers = np.exp(x - x.max(axis=axes, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axes, keepdims=True))


NORMS.add(
    Op(
        name="softmax",
        namespace="nl",
        engine="vector",
        summary="Softmax over free axes, the row maximum taken off first.",
        run=_softmax,
        cost=costs.times(2),
        also=(("scalar", costs.streamed_and_read_back),),
        check=free_axes,
        sample=tiles("x", axis=[1]),
        reduces=True,
        keeps_shape=True,
        result_dtype="floating",
    )
)


@NORMS.op(
    "nl",
    cost=costs.times(3),
    also=(("scalar", costs.streamed),),
    check=free_axes,
    sample=lambda rng: {"x": tile(rng), "w": tile(rng), "axis": [1], "n": 24},
    broadcasts=True,
    reduces=True,
    keeps_shape=True,
    result_dtype="floating",
)
def rms_norm(
    x: Array,
    w: Any,
    axis: Any,
    n: int,
    epsilon: float = 1e-6,
    compute_dtype: Any = None,  # noqa: ARG001
) -> Array:
    """Divide by the root of the mean square over free axes, and multiply by ``w``."""
    axes = tuple(axis) if isinstance(axis, tuple | list) else (axis,)
    mean_square = np.square(x).sum(axis=axes, keepdims=True) / n
    return np.asarray(x / np.sqrt(mean_square + np.float32(epsilon)) * w)
