"""How each ATen overload becomes the few kinds of ``KINDS``: one rule for each."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nkiport.contracts.base import DType
from nkiport.contracts.graph import Node
from nkiport.lowering.builder import (
    Builder,
    Operand,
    expand,
    permute,
    unsqueeze,
)
from nkiport.lowering.ir import Op, Use

Result = Operand | tuple[Operand, ...]
Rewrite = Callable[..., Result]


@dataclass(frozen=True)
class Rule:
    """How one overload is rewritten: ``rewrite(builder, node, *args, **kwargs)``."""

    op: str
    rewrite: Rewrite


UNARY: Mapping[str, str] = {
    "abs": "abs", "neg": "neg", "exp": "exp", "log": "log", "sqrt": "sqrt", "rsqrt": "rsqrt",
    "reciprocal": "reciprocal", "sigmoid": "sigmoid", "tanh": "tanh", "relu": "relu",
    "silu": "silu", "erf": "erf", "sin": "sin", "cos": "cos", "floor": "floor", "ceil": "ceil",
    "trunc": "trunc", "sign": "sign", "logical_not": "logical_not",
}  # fmt: skip
"""ATen name to kind, where the meaning is the same."""

BINARY: Mapping[str, str] = {
    "mul": "mul", "maximum": "maximum", "minimum": "minimum", "logical_and": "logical_and",
    "logical_or": "logical_or",
}  # fmt: skip

COMPARE: Mapping[str, str] = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}  # fmt: skip

ELEMENTWISE = frozenset(
    {*UNARY.values(), *BINARY.values(), *COMPARE.values()}
    | {"add", "sub", "div", "pow", "where", "copy", "cast", "gelu", "gelu_tanh", "square"}
)
REDUCTIONS = frozenset({"sum", "max", "min", "mean"})
KINDS = ELEMENTWISE | REDUCTIONS | {"matmul"}
"""What the passes after this one know."""


def _same(kind: str) -> Rewrite:
    def rewrite(b: Builder, node: Node, *args: Operand) -> Result:
        return b.elementwise(kind, *args, dtype=node.dtype)

    return rewrite


def _alpha(kind: str) -> Rewrite:
    def rewrite(b: Builder, node: Node, x: Operand, y: Operand, alpha: float = 1) -> Result:
        scaled = y if alpha == 1 else b.part("scaled", "mul", y, alpha)
        return b.elementwise(kind, x, scaled, dtype=node.dtype)

    return rewrite


def _rsub(b: Builder, node: Node, x: Operand, y: Operand, alpha: float = 1) -> Result:
    return _alpha("sub")(b, node, y, x) if alpha == 1 else _scaled_rsub(b, node, x, y, alpha)


def _scaled_rsub(b: Builder, node: Node, x: Operand, y: Operand, alpha: float) -> Result:
    return b.elementwise("sub", y, b.part("scaled", "mul", x, alpha), dtype=node.dtype)


def _div(b: Builder, node: Node, x: Operand, y: Operand) -> Result:
    if isinstance(y, Use):
        return b.elementwise("div", x, y, dtype=node.dtype)
    if y and math.frexp(y)[0] in {0.5, -0.5}:
        return b.elementwise("mul", x, 1 / y, dtype=node.dtype)
    return b.elementwise("div", x, y, dtype=node.dtype)


def _power(b: Builder, node: Node, x: Use, exponent: float) -> Result:
    named = {
        2: "square", 0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal", 1: "copy",
    }  # fmt: skip
    if exponent in named:
        return b.elementwise(named[exponent], x, dtype=node.dtype)
    if exponent == 3:  # noqa: PLR2004 - a cube is two multiplications
        return b.elementwise("mul", b.part("squared", "square", x), x, dtype=node.dtype)
    return b.elementwise("pow", x, exponent, dtype=node.dtype)


def _gelu(b: Builder, node: Node, x: Use, approximate: str = "none") -> Result:
    kind = "gelu_tanh" if approximate == "tanh" else "gelu"
    return b.elementwise(kind, x, dtype=node.dtype)


def _clamp(
    b: Builder,
    node: Node,
    x: Use,
    low: Operand | None = None,
    high: Operand | None = None,
    **kw: Any,
) -> Result:
    low, high = kw.get("min", low), kw.get("max", high)
    raised = x if low is None else b.elementwise("maximum", x, low, dtype=node.dtype)
    return raised if high is None else b.elementwise("minimum", raised, high, dtype=node.dtype)


def _where(b: Builder, node: Node, condition: Use, x: Operand, y: Operand) -> Result:
    return b.elementwise("where", condition, x, y, dtype=node.dtype)


def _log1p(b: Builder, node: Node, x: Use) -> Result:
    return b.elementwise("log", b.part("plus_one", "add", x, 1.0), dtype=node.dtype)


def _expm1(b: Builder, node: Node, x: Use) -> Result:
    return b.elementwise("sub", b.part("exp", "exp", x), 1.0, dtype=node.dtype)


def _leaky_relu(b: Builder, node: Node, x: Use, slope: float = 0.01) -> Result:
    below = b.part("below", "mul", b.part("negative", "minimum", x, 0.0), slope)
    return b.elementwise("add", b.part("above", "maximum", x, 0.0), below, dtype=node.dtype)


def _elu(
    b: Builder, node: Node, x: Use, alpha: float = 1.0, scale: float = 1.0, slope: float = 1.0
) -> Result:
    negative = b.part("negative", "mul", b.part("floor", "minimum", x, 0.0), slope)
    grown = b.part("shifted", "sub", b.part("exp", "exp", negative), 1.0)
    below = b.part("below", "mul", grown, alpha * scale)
    above = b.part("above", "mul", b.part("positive", "maximum", x, 0.0), scale)
    return b.elementwise("add", above, below, dtype=node.dtype)


def _cast(b: Builder, node: Node, x: Use, dtype: Any = None, **_: Any) -> Result:
    wanted = dtype or node.dtype
    return x if wanted == b.dtypes[x.value] else b.elementwise("cast", x, dtype=wanted)


def _same_data(_b: Builder, _node: Node, x: Operand, *_: Any, **__: Any) -> Result:
    return x


def _constant(_b: Builder, _node: Node, *args: Any, **_: Any) -> Result:
    value: Operand = args[-1]
    return value


def _full(_b: Builder, node: Node, shape: Sequence[int], value: float, **_: Any) -> Result:
    if math.prod(shape) == 1:
        return value
    raise NotImplementedError(f"{node.name}: a constant tensor of shape {tuple(shape)}")


def _view(b: Builder, _node: Node, x: Use, sizes: Sequence[int]) -> Result:
    return b.view(x, sizes)


def _flat(b: Builder, node: Node, x: Use, *_: Any) -> Result:
    return b.view(x, node.shape)


def _permute(_b: Builder, _node: Node, x: Use, order: Sequence[int]) -> Result:
    return permute(x, order)


def _transpose(_b: Builder, _node: Node, x: Use, one: int = 0, two: int = 1) -> Result:
    order = list(range(len(x.dims)))
    if order:
        order[one], order[two] = order[two], order[one]
    return permute(x, order)


def _turn(_b: Builder, _node: Node, x: Use) -> Result:
    return permute(x, list(reversed(range(len(x.dims)))))


def _unsqueeze(_b: Builder, _node: Node, x: Use, axis: int) -> Result:
    return unsqueeze(x, [axis % (len(x.dims) + 1)])


def _expand(_b: Builder, _node: Node, x: Use, sizes: Sequence[int], **_: Any) -> Result:
    return expand(x, sizes)


def _reduction(kind: str) -> Rewrite:
    def rewrite(
        b: Builder, node: Node, x: Use, axes: Any = (), keepdim: bool = False, **_: Any
    ) -> Result:
        return b.reduce(kind, x, _axes(axes), keepdim=keepdim, dtype=node.dtype)

    return rewrite


def _axes(axes: Any) -> tuple[int, ...]:
    return (axes,) if isinstance(axes, int) else tuple(axes or ())


def _var(
    b: Builder, node: Node, x: Use, axes: Any = None, *, correction: float | None = None,
    keepdim: bool = False,
) -> Result:  # fmt: skip
    return _moments(b, node, x, axes, correction, keepdim=keepdim)[0]


def _var_mean(
    b: Builder, node: Node, x: Use, axes: Any = None, *, correction: float | None = None,
    keepdim: bool = False,
) -> Result:  # fmt: skip
    return _moments(b, node, x, axes, correction, keepdim=keepdim)


def _moments(
    b: Builder, node: Node, x: Use, axes: Any, correction: float | None, *, keepdim: bool
) -> tuple[Use, Use]:
    """Variance and mean. Two passes: squares of differences, never a difference of squares."""
    over = _axes(axes) or tuple(range(len(x.dims)))
    mean = b.reduce("mean", x, over, keepdim=True, name=f"{node.name}_mean")
    square = b.part("square", "square", b.part("centred", "sub", x, mean))
    less = 1 if correction is None else correction
    var = b.reduce("mean", square, over, keepdim=keepdim, correction=less, name=node.name)
    return var, mean if keepdim else b.view(mean, var.shape)


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
    mean = b.reduce("mean", x, axes, keepdim=True, name=f"{node.name}_mean")
    centred = b.part("centred", "sub", x, mean)
    square = b.part("square", "square", centred)
    var = b.reduce("mean", square, axes, keepdim=True, name=f"{node.name}_var")
    rstd = b.part("rstd", "rsqrt", b.part("var_eps", "add", var, eps))
    last = b.part("normed", "mul", centred, rstd)
    if weight is not None:
        last = b.part("scaled", "mul", last, weight)
    if bias is not None:
        last = b.part("shifted", "add", last, bias)
    return b.elementwise("cast", last, dtype=node.dtype), mean, rstd


def _vector_norm(
    b: Builder, node: Node, x: Use, order: float = 2, axes: Any = None, keepdim: bool = False,
    **_: Any,
) -> Result:  # fmt: skip
    if order == 2:  # noqa: PLR2004 - the Euclidean norm
        square = b.part("square", "square", x)
        total = b.reduce("sum", square, _axes(axes), keepdim=keepdim, name=f"{node.name}_sum")
        return b.elementwise("sqrt", total, dtype=node.dtype)
    kinds = {1: "sum", math.inf: "max", -math.inf: "min"}
    if order not in kinds:
        raise NotImplementedError(f"{node.name}: a vector norm of order {order}")
    size = b.part("abs", "abs", x)
    return b.reduce(kinds[order], size, _axes(axes), keepdim=keepdim, dtype=node.dtype)


def _matmul(b: Builder, node: Node, x: Use, y: Use) -> Result:
    return _product(b, x, y, name=node.name, dtype=node.dtype)


def _product(b: Builder, x: Use, y: Use, *, name: str, dtype: DType) -> Use:
    dims = (*x.dims[:-1], y.dims[-1])
    return b.add(Op(name, "matmul", (x, y), dims, dtype))


def _addmm(
    b: Builder, node: Node, bias: Use, x: Use, y: Use, *, beta: float = 1, alpha: float = 1
) -> Result:
    product: Operand = _product(b, x, y, name=f"{node.name}_product", dtype="float32")
    if alpha != 1:
        product = b.part("scaled", "mul", product, alpha)
    if beta == 0:
        return b.elementwise("cast", product, dtype=node.dtype)
    weighed = bias if beta == 1 else b.part("bias", "mul", bias, beta)
    return b.elementwise("add", product, weighed, dtype=node.dtype)


def _linear(b: Builder, node: Node, x: Use, weight: Use, bias: Use | None = None) -> Result:
    rows = b.view(x, (-1, x.shape[-1]))
    turned = permute(weight, (1, 0))
    if bias is None:
        product = _product(b, rows, turned, name=node.name, dtype=node.dtype)
    else:
        inner = _product(b, rows, turned, name=f"{node.name}_product", dtype="float32")
        product = b.elementwise("add", inner, bias, dtype=node.dtype)
    return b.view(product, node.shape)


RULES: tuple[Rule, ...] = (
    *(Rule(f"aten.{name}.default", _same(kind)) for name, kind in UNARY.items()),
    *(
        Rule(f"aten.{name}.{overload}", _same(kind))
        for name, kind in BINARY.items()
        for overload in ("default", "Tensor", "Scalar")
    ),
    *(
        Rule(f"aten.{name}.{overload}", _same(kind))
        for name, kind in COMPARE.items()
        for overload in ("Tensor", "Scalar")
    ),
    *(
        Rule(f"aten.{name}.{overload}", _alpha(name))
        for name in ("add", "sub")
        for overload in ("Tensor", "Scalar")
    ),
    Rule("aten.rsub.Scalar", _rsub),
    Rule("aten.rsub.Tensor", _rsub),
    Rule("aten.div.Tensor", _div),
    Rule("aten.div.Scalar", _div),
    Rule("aten.pow.Tensor_Scalar", _power),
    Rule("aten.pow.Tensor_Tensor", _same("pow")),
    Rule("aten.square.default", _same("square")),
    Rule("aten.gelu.default", _gelu),
    Rule("aten.clamp.default", _clamp),
    Rule("aten.clamp.Tensor", _clamp),
    Rule("aten.clamp_min.default", _clamp),
    Rule("aten.where.self", _where),
    Rule("aten.where.ScalarOther", _where),
    Rule("aten.where.ScalarSelf", _where),
    Rule("aten.where.Scalar", _where),
    Rule("aten.log1p.default", _log1p),
    Rule("aten.expm1.default", _expm1),
    Rule("aten.leaky_relu.default", _leaky_relu),
    Rule("aten.elu.default", _elu),
    Rule("aten._to_copy.default", _cast),
    Rule("prims.convert_element_type.default", _cast),
    *(
        Rule(f"aten.{name}.default", _same_data)
        for name in ("clone", "alias", "detach", "contiguous", "lift_fresh_copy")
    ),
    Rule("aten._assert_tensor_metadata.default", _same_data),
    Rule("aten.scalar_tensor.default", _constant),
    Rule("aten.full.default", _full),
    Rule("aten.view.default", _view),
    Rule("aten._unsafe_view.default", _view),
    Rule("aten.reshape.default", _view),
    Rule("aten.squeeze.default", _flat),
    Rule("aten.squeeze.dim", _flat),
    Rule("aten.squeeze.dims", _flat),
    Rule("aten.unsqueeze.default", _unsqueeze),
    Rule("aten.expand.default", _expand),
    Rule("aten.permute.default", _permute),
    Rule("aten.transpose.int", _transpose),
    Rule("aten.t.default", _turn),
    Rule("aten.sum.dim_IntList", _reduction("sum")),
    Rule("aten.sum.default", _reduction("sum")),
    Rule("aten.mean.dim", _reduction("mean")),
    Rule("aten.mean.default", _reduction("mean")),
    Rule("aten.amax.default", _reduction("max")),
    Rule("aten.amin.default", _reduction("min")),
    Rule("aten.max.default", _reduction("max")),
    Rule("aten.min.default", _reduction("min")),
    Rule("aten.var.correction", _var),
    Rule("aten.var_mean.correction", _var_mean),
    Rule("aten.linalg_vector_norm.default", _vector_norm),
    Rule("aten._softmax.default", _softmax),
    Rule("aten._log_softmax.default", _log_softmax),
    Rule("aten.native_layer_norm.default", _layer_norm),
    Rule("aten.mm.default", _matmul),
    Rule("aten.bmm.default", _matmul),
    Rule("aten.addmm.default", _addmm),
    Rule("aten.linear.default", _linear),
)
"""In the order a reader looks for them; no overload has two."""


def rule_table() -> dict[str, Rewrite]:
    """Overload to rewrite."""
    return {rule.op: rule.rewrite for rule in RULES}
