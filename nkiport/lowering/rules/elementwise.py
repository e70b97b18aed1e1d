"""Element-wise overloads."""

import math
from typing import Any

from nkiport.contracts.graph import Node
from nkiport.lowering.builder import Builder, Operand
from nkiport.lowering.ir import Use
from nkiport.lowering.rules.rule import BINARY, COMPARE, UNARY, Result, Rewrite, Rule


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


def _multiply(b: Builder, node: Node, x: Operand, y: Operand) -> Result:
    """Two products are functions of the scalar engine: the silu and the mish."""
    if (same := _by_one(b, node, x, y)) is not None:
        return same
    for one, other in ((x, y), (y, x)):
        if one == b.argument_of("sigmoid", other):
            return b.elementwise("silu", one, dtype=node.dtype)
        soft = b.argument_of("tanh", other)
        if soft is not None and one == b.argument_of("softplus", soft):
            return b.elementwise("mish", one, dtype=node.dtype)
    return b.elementwise("mul", x, y, dtype=node.dtype)


def _by_one(b: Builder, node: Node, x: Operand, y: Operand) -> Use | None:
    """What is multiplied or divided by one stays as it is."""
    kept = isinstance(x, Use) and not isinstance(y, Use) and y == 1
    return x if isinstance(x, Use) and kept and b.dtypes[x.value] == b.kind(node.dtype) else None


def _div(b: Builder, node: Node, x: Operand, y: Operand) -> Result:
    if (same := _by_one(b, node, x, y)) is not None:
        return same
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


def _clamp_max(b: Builder, node: Node, x: Use, high: Operand) -> Result:
    return _clamp(b, node, x, None, high)


def _logical(kind: str) -> Rewrite:
    """Bits of truth values are truth values; bits of numbers have no rule."""

    def rewrite(b: Builder, node: Node, *args: Use) -> Result:
        if node.dtype != "bool":
            raise NotImplementedError(f"{node.name}: bits of {node.dtype}")
        return b.elementwise(kind, *args, dtype="bool")

    return rewrite


def _exclusive(b: Builder, node: Node, x: Use, y: Use) -> Result:
    """Whether one of two is not zero and the other is."""
    truth = (b.part("truth", "not_equal", each, 0.0) for each in (x, y))
    return b.elementwise("not_equal", *truth, dtype=node.dtype)


def _either(kind: str) -> Rewrite:
    """The larger or smaller of two; the other one where one is no number."""

    def rewrite(b: Builder, node: Node, x: Use, y: Use) -> Result:
        first = b.part("first", "where", b.part("void", "not_equal", x, x), y, x)
        other = b.part("other", "where", b.part("void", "not_equal", y, y), x, y)
        return b.elementwise(kind, first, other, dtype=node.dtype)

    return rewrite


LINEAR = 16.0
"""From here on softplus(x) is x in float32: exp(-x) is less than half a unit of its last place."""


def _where(b: Builder, node: Node, condition: Use, x: Operand, y: Operand) -> Result:
    """A softplus that is x above a limit is the softplus, where it is x there anyway."""
    if isinstance(y, Use) and x == b.argument_of("softplus", y) == b.argument_of(
        "greater", condition
    ):
        limit = b.makers[condition.value].args[1]
        if not isinstance(limit, Use) and limit >= LINEAR and b.dtypes[y.value] == "float32":
            return y
    return b.elementwise("where", condition, x, y, dtype=node.dtype)


def _leaky_relu(b: Builder, node: Node, x: Use, slope: float = 0.01) -> Result:
    below = b.part("below", "mul", b.part("negative", "minimum", x, 0.0), slope)
    return b.elementwise("add", b.part("above", "maximum", x, 0.0), below, dtype=node.dtype)


def _random_relu(
    b: Builder, node: Node, x: Use, _noise: Operand, low: float = 1 / 8, high: float = 1 / 3,
    training: bool = False, *_: Any,
) -> Result:  # fmt: skip
    """In evaluation the slope is the middle one."""
    if training:
        raise NotImplementedError(f"{node.name}: random slopes")
    return _leaky_relu(b, node, x, (low + high) / 2)


def _elu(
    b: Builder, node: Node, x: Use, alpha: float = 1.0, scale: float = 1.0, slope: float = 1.0
) -> Result:
    negative = b.part("negative", "mul", b.part("floor", "minimum", x, 0.0), slope)
    grown = b.part("shifted", "sub", b.part("exp", "exp", negative), 1.0)
    below = b.part("below", "mul", grown, alpha * scale)
    above = b.part("above", "mul", b.part("positive", "maximum", x, 0.0), scale)
    return b.elementwise("add", above, below, dtype=node.dtype)


def _cast(b: Builder, node: Node, x: Use, dtype: Any = None, **_: Any) -> Result:
    wanted = b.kind(dtype or node.dtype)
    return x if wanted == b.dtypes[x.value] else b.elementwise("cast", x, dtype=wanted)


def _hardtanh(b: Builder, node: Node, x: Use, low: float = -1.0, high: float = 1.0) -> Result:
    return _clamp(b, node, x, low, high)


def _ramp(b: Builder, x: Use) -> Use:
    """0 up to -3, 1 from 3 on, a line between: what the hard activations share."""
    raised = b.part("raised", "add", x, 3.0)
    kept = b.part("kept", "minimum", b.part("floor", "maximum", raised, 0.0), 6.0)
    return b.part("ramp", "mul", kept, 1 / 6)


def _hardsigmoid(b: Builder, node: Node, x: Use) -> Result:
    return b.elementwise("copy", _ramp(b, x), dtype=node.dtype)


def _hardswish(b: Builder, node: Node, x: Use) -> Result:
    return b.elementwise("mul", x, _ramp(b, x), dtype=node.dtype)


def _softplus(b: Builder, node: Node, x: Use, beta: float = 1.0, threshold: float = 20.0) -> Result:
    """The scalar engine's own function, linear above the threshold."""
    z = x if beta == 1 else b.part("scaled", "mul", x, beta)
    if threshold >= LINEAR:
        soft = b.elementwise("softplus", z, dtype=node.dtype)
        return soft if beta == 1 else b.elementwise("mul", soft, 1 / beta, dtype=node.dtype)
    soft = b.part("soft", "softplus", b.part("capped", "minimum", z, threshold))
    grown = soft if beta == 1 else b.part("grown", "mul", soft, 1 / beta)
    linear = b.part("linear", "greater", z, threshold)
    return b.elementwise("where", linear, x, grown, dtype=node.dtype)


def _log_sigmoid(b: Builder, node: Node, x: Use) -> Result:
    """The log of the logistic function is the softplus of -x, turned."""
    soft = b.part("soft", "softplus", b.part("minus", "neg", x))
    value = b.elementwise("neg", soft, dtype=node.dtype)
    return value, value


def _prelu(b: Builder, node: Node, x: Use, weight: Use) -> Result:
    slope = weight
    if len(x.dims) > 2 and len(weight.dims) == 1:  # noqa: PLR2004 - batch and channels come first
        slope = b.view(weight, (-1, *(1,) * (len(x.dims) - 2)))
    below = b.part("below", "mul", b.part("negative", "minimum", x, 0.0), slope)
    return b.elementwise("add", b.part("above", "maximum", x, 0.0), below, dtype=node.dtype)


def _addcmul(b: Builder, node: Node, x: Use, y: Use, z: Use, value: float = 1) -> Result:
    product = b.part("product", "mul", y, z)
    scaled = product if value == 1 else b.part("scaled", "mul", product, value)
    return b.elementwise("add", x, scaled, dtype=node.dtype)


def _addcdiv(b: Builder, node: Node, x: Use, y: Use, z: Use, value: float = 1) -> Result:
    quotient = b.part("quotient", "div", y, z)
    scaled = quotient if value == 1 else b.part("scaled", "mul", quotient, value)
    return b.elementwise("add", x, scaled, dtype=node.dtype)


def _lerp(b: Builder, node: Node, x: Use, end: Use, weight: Operand) -> Result:
    way = b.part("way", "mul", b.part("difference", "sub", end, x), weight)
    return b.elementwise("add", x, way, dtype=node.dtype)


def _masked_fill(b: Builder, node: Node, x: Use, mask: Use, value: Operand) -> Result:
    return b.elementwise("where", mask, value, x, dtype=node.dtype)


def _floor_divide(b: Builder, node: Node, x: Operand, y: Operand, **mode: Any) -> Result:
    rounding = mode.get("rounding_mode")
    if rounding is None:
        return _div(b, node, x, y)
    kind = {"floor": "floor", "trunc": "trunc"}[rounding]
    return b.elementwise(kind, b.part("quotient", "div", x, y), dtype=node.dtype)


def _remainder(b: Builder, node: Node, x: Operand, y: Operand) -> Result:
    whole = b.part("whole", "floor", b.part("quotient", "div", x, y))
    return b.elementwise("sub", x, b.part("taken", "mul", whole, y), dtype=node.dtype)


RULES: tuple[Rule, ...] = (
    *(Rule(f"aten.{name}.default", _same(kind)) for name, kind in UNARY.items()),
    *(Rule(f"aten.mul.{overload}", _multiply) for overload in ("Tensor", "Scalar")),
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
    Rule("aten.div.Tensor_mode", _floor_divide),
    Rule("aten.div.Scalar_mode", _floor_divide),
    Rule("aten.remainder.Tensor", _remainder),
    Rule("aten.remainder.Scalar", _remainder),
    Rule("aten.fmod.Tensor", _same("fmod")),
    Rule("aten.fmod.Scalar", _same("fmod")),
    Rule("aten.pow.Tensor_Scalar", _power),
    Rule("aten.pow.Tensor_Tensor", _same("pow")),
    Rule("aten.square.default", _same("square")),
    Rule("aten.bitwise_and.Tensor", _logical("logical_and")),
    Rule("aten.bitwise_or.Tensor", _logical("logical_or")),
    Rule("aten.bitwise_not.default", _logical("logical_not")),
    Rule("aten.bitwise_xor.Tensor", _logical("not_equal")),
    Rule("aten.logical_xor.default", _exclusive),
    Rule("aten.fmax.default", _either("maximum")),
    Rule("aten.fmin.default", _either("minimum")),
    Rule("aten.gelu.default", _gelu),
    Rule("aten.clamp.default", _clamp),
    Rule("aten.clamp.Tensor", _clamp),
    Rule("aten.clamp_min.default", _clamp),
    Rule("aten.clamp_max.default", _clamp_max),
    Rule("aten.hardtanh.default", _hardtanh),
    Rule("aten.hardsigmoid.default", _hardsigmoid),
    Rule("aten.hardswish.default", _hardswish),
    Rule("aten.softplus.default", _softplus),
    Rule("aten.log_sigmoid_forward.default", _log_sigmoid),
    Rule("aten._prelu_kernel.default", _prelu),
    Rule("aten.prelu.default", _prelu),
    Rule("aten.addcmul.default", _addcmul),
    Rule("aten.addcdiv.default", _addcdiv),
    Rule("aten.lerp.Scalar", _lerp),
    Rule("aten.lerp.Tensor", _lerp),
    Rule("aten.masked_fill.Scalar", _masked_fill),
    Rule("aten.masked_fill.Tensor", _masked_fill),
    Rule("aten.where.self", _where),
    Rule("aten.where.ScalarOther", _where),
    Rule("aten.where.ScalarSelf", _where),
    Rule("aten.where.Scalar", _where),
    Rule("aten.leaky_relu.default", _leaky_relu),
    Rule("aten.rrelu_with_noise_functional.default", _random_relu),
    Rule("aten.elu.default", _elu),
    Rule("aten._to_copy.default", _cast),
    Rule("prims.convert_element_type.default", _cast),
)
