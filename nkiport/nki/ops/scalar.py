"""The scalar engine: element functions by table, with scale, bias and a running sum."""

from typing import Any

import numpy as np

from nkiport.nki import costs
from nkiport.nki.checks import activation_rules, integers_only
from nkiport.nki.dtypes import Array
from nkiport.nki.functions import UNARY, Function, function
from nkiport.nki.op import Op, Table, no_further_rule
from nkiport.nki.ops.samples import integer_tiles, tiles, with_columns
from nkiport.nki.targets import Engine

SCALAR = Table("scalar")


def unary(name: str, each: Function, engine: Engine) -> Op:
    """Return the ``nl`` operation of an element function of one argument."""
    return Op(
        name=name,
        namespace="nl",
        engine=engine,
        summary=each.summary,
        run=lambda x: each.run(x),  # noqa: PLW0108 - a ufunc takes no keywords
        cost=costs.streamed,
        check=integers_only("x") if each.integers else no_further_rule,
        sample=integer_tiles("x") if each.integers else tiles("x"),
        exact=each.integers,
        result_dtype="bool" if each.logical else "promote",
    )


for _name, _function in UNARY.items():
    if _function.activation and _name != "copy":
        SCALAR.add(unary(_name, _function, "scalar"))


def column(value: Any, like: Array) -> Any:
    """Return a (P, 1) tile with as many axes as ``like``, so that it broadcasts over them."""
    if not isinstance(value, np.ndarray) or value.ndim == like.ndim:
        return value
    return value.reshape(value.shape[0], *(1,) * (like.ndim - 1))


def _activated(op: str, data: Array, bias: Any, scale: Any) -> Array:
    unscaled = isinstance(scale, float) and scale == 1.0  # times one, at the cost of a pass
    scaled = data if unscaled else data * column(scale, data)
    shifted = scaled if bias is None else scaled + column(bias, data)
    return np.asarray(function(op).run(shifted))


def _row_sums(values: Array) -> Array:
    return np.asarray(values.reshape(values.shape[0], -1).sum(axis=1, keepdims=True))


@SCALAR.op(
    "nisa",
    cost=costs.streamed,
    check=activation_rules,
    sample=with_columns(("data",), ("bias",), op="exp", scale=0.5),
    writes=("reduce_res",),
    reduces=True,
    keeps_shape=True,
    result_dtype="first",
)
def activation(
    op: str,
    data: Array,
    bias: Any = None,
    scale: Any = 1.0,
    reduce_op: str | None = None,
    reduce_res: Array | None = None,
    reduce_cmd: str = "idle",
    accumulator: Array | None = None,
) -> tuple[Array, Array | None]:
    """Apply ``op`` to ``data * scale + bias``; optionally add each row up into a register."""
    result = _activated(op, data, bias, scale)
    if reduce_op is None or accumulator is None:
        return result, None
    rows = accumulator[: result.shape[0]]
    if reduce_cmd != "reduce":
        rows[...] = 0
    if reduce_cmd in {"reduce", "reset_reduce"}:
        rows += _row_sums(result)
    return result, None if reduce_res is None else rows.copy()


@SCALAR.op(
    "nisa",
    cost=costs.streamed_and_read_back,
    check=activation_rules,
    sample=with_columns(("data",), ("reduce_res",), op="exp", reduce_op="add", scale=0.5),
    writes=("reduce_res",),
    reduces=True,
    keeps_shape=True,
    result_dtype="first",
)
def activation_reduce(
    op: str,
    data: Array,
    reduce_op: str,
    reduce_res: Array,  # noqa: ARG001
    bias: Any = None,
    scale: Any = 1.0,
) -> tuple[Array, Array]:
    """Apply ``op`` to ``data * scale + bias`` and write the sum of each row to ``reduce_res``."""
    result = _activated(op, data, bias, scale)
    assert reduce_op is not None  # noqa: S101
    return result, _row_sums(result)
