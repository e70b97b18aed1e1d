"""Softmax and the normalisations of layers."""

from collections.abc import Mapping, Sequence
from typing import Any

from nkiport.contracts.graph import Node
from nkiport.lowering.builder import Builder
from nkiport.lowering.ir import Use
from nkiport.lowering.rules.rule import Result, Rule


def _softmax(b: Builder, node: Node, x: Use, axis: int, _half: bool = False) -> Result:
    exp, total = _exponentials(b, node, x, axis)[1:]
    return b.elementwise("div", exp, total, dtype=node.dtype)


def _log_softmax(b: Builder, node: Node, x: Use, axis: int, _half: bool = False) -> Result:
    shifted, _, total = _exponentials(b, node, x, axis)
    return b.elementwise("sub", shifted, b.part("log", "log", total), dtype=node.dtype)


def _exponentials(b: Builder, node: Node, x: Use, axis: int) -> tuple[Use, Use, Use]:
    """Differences from the largest value of the row, their exponentials, and the sum of these."""
    largest = b.reduce("max", x, [axis], keepdim=True, name=f"{node.name}_max")
    shifted = b.part("shifted", "sub", x, largest)
    exp = b.part("exp", "exp", shifted)
    return shifted, exp, b.reduce("sum", exp, [axis], keepdim=True, name=f"{node.name}_sum")


def _layer_norm(
    b: Builder, node: Node, x: Use, shape: Sequence[int], weight: Use | None, bias: Use | None,
    eps: float,
) -> Result:  # fmt: skip
    axes = range(len(x.dims) - len(shape), len(x.dims))
    normed, mean, rstd = _normed(b, node, x, axes, eps)
    return b.elementwise("cast", _affine(b, normed, weight, bias), dtype=node.dtype), mean, rstd


def _batch_norm(
    b: Builder, node: Node, x: Use, weight: Use | None, bias: Use | None, mean: Use, var: Use,
    _momentum: float, eps: float,
) -> Result:  # fmt: skip
    """With running statistics: one factor for each channel, between mean and bias."""
    wide = (1, -1, *(1,) * (len(x.dims) - 2))
    rstd = b.part("rstd", "rsqrt", b.part("var_eps", "add", var, eps))
    factor = rstd if weight is None else b.part("factor", "mul", rstd, weight)
    centred = b.part("centred", "sub", x, b.view(mean, wide))
    normed = b.part("normed", "mul", centred, b.view(factor, wide))
    last = _affine(b, normed, None, bias, wide)
    return b.elementwise("cast", last, dtype=node.dtype), mean, rstd


def _batch_norm_fresh(
    b: Builder, node: Node, x: Use, weight: Use | None, bias: Use | None, *rest: Any
) -> Result:
    """With the statistics of the batch itself; ``rest`` ends in momentum and epsilon."""
    axes = [axis for axis in range(len(x.dims)) if axis != 1]
    wide = (1, -1, *(1,) * (len(x.dims) - 2))
    normed, mean, rstd = _normed(b, node, x, axes, rest[-1])
    last = _affine(b, normed, weight, bias, wide)
    return b.elementwise("cast", last, dtype=node.dtype), mean, rstd


def _normed(
    b: Builder, node: Node, x: Use, axes: Sequence[int], eps: float
) -> tuple[Use, Use, Use]:
    mean = b.reduce("mean", x, axes, keepdim=True, name=f"{node.name}_mean")
    centred = b.part("centred", "sub", x, mean)
    square = b.part("square", "square", centred)
    var = b.reduce("mean", square, axes, keepdim=True, name=f"{node.name}_var")
    rstd = b.part("rstd", "rsqrt", b.part("var_eps", "add", var, eps))
    return b.part("normed", "mul", centred, rstd), mean, rstd


def _affine(
    b: Builder, x: Use, weight: Use | None, bias: Use | None, wide: Sequence[int] | None = None
) -> Use:
    if weight is not None:
        x = b.part("scaled", "mul", x, b.view(weight, wide) if wide else weight)
    if bias is not None:
        x = b.part("shifted", "add", x, b.view(bias, wide) if wide else bias)
    return x


def _group_norm(
    b: Builder, node: Node, x: Use, weight: Use | None, bias: Use | None, batch: int,
    channels: int, positions: int, groups: int, eps: float,
) -> Result:  # fmt: skip
    """Rows are the groups; the factors differ within a row, from channel to channel."""
    rows = b.view(x, (batch, groups, channels // groups, positions))
    normed, mean, rstd = _normed(b, node, rows, (2, 3), eps)
    wide = (1, groups, channels // groups, 1)
    last = b.view(_affine(b, normed, weight, bias, wide), x.shape)
    given = b.view(mean, (batch, groups)), b.view(rstd, (batch, groups))
    return b.elementwise("cast", last, dtype=node.dtype), *given


def _rms_norm(
    b: Builder, node: Node, x: Use, shape: Sequence[int], weight: Use | None = None,
    eps: float | None = None,
) -> Result:  # fmt: skip
    axes = range(len(x.dims) - len(shape), len(x.dims))
    square = b.part("square", "square", x)
    mean = b.reduce("mean", square, axes, keepdim=True, name=f"{node.name}_mean")
    least = eps if eps is not None else EPSILON[node.dtype]
    rstd = b.part("rstd", "rsqrt", b.part("mean_eps", "add", mean, least))
    last = _affine(b, b.part("normed", "mul", x, rstd), weight, None)
    return b.elementwise("cast", last, dtype=node.dtype), rstd


EPSILON: Mapping[str, float] = {"float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
"""The distance from 1 to the next number, which stands in for an epsilon that is not given."""

RULES: tuple[Rule, ...] = (
    Rule("aten._softmax.default", _softmax),
    Rule("aten._log_softmax.default", _log_softmax),
    Rule("aten._safe_softmax.default", _softmax),
    Rule("aten.native_layer_norm.default", _layer_norm),
    Rule("aten._native_batch_norm_legit_no_training.default", _batch_norm),
    Rule("aten._native_batch_norm_legit.no_stats", _batch_norm_fresh),
    Rule("aten._native_batch_norm_legit_functional.default", _batch_norm_fresh),
    Rule("aten.native_group_norm.default", _group_norm),
    Rule("aten._fused_rms_norm.default", _rms_norm),
)
