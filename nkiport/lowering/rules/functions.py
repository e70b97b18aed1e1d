"""Functions that engines lack, made of those they have."""

import math
from collections.abc import Callable

from nkiport.contracts.graph import Node
from nkiport.lowering.builder import Builder, Operand
from nkiport.lowering.ir import Use
from nkiport.lowering.rules.rule import Result, Rewrite, Rule


def _log1p(b: Builder, node: Node, x: Use) -> Result:
    """log(w) * x / (w - 1) for w = 1 + x: the rounding of w cancels. Where w is 1, x itself.

    Of an exponential it is the softplus, which the scalar engine has.
    """
    grown = b.argument_of("exp", x)
    if grown is not None:
        return b.elementwise("softplus", grown, dtype=node.dtype)
    whole = b.part("whole", "add", x, 1.0)
    kept = b.part("kept", "sub", whole, 1.0)
    share = b.part("share", "div", x, kept)
    value = b.part("value", "mul", b.part("log", "log", whole), share)
    return b.elementwise("where", b.part("tiny", "equal", kept, 0.0), x, value, dtype=node.dtype)


def _expm1(b: Builder, node: Node, x: Use) -> Result:
    return b.elementwise("sub", b.part("exp", "exp", x), 1.0, dtype=node.dtype)


def _scalar_power(b: Builder, node: Node, base: float, exponent: Use) -> Result:
    """Base ** x is exp(x * log(base)) for a base above 0."""
    if base <= 0:
        raise NotImplementedError(f"{node.name}: the power of the base {base}")
    grown = b.part("grown", "mul", exponent, math.log(base))
    return b.elementwise("exp", grown, dtype=node.dtype)


def _log_base(base: float) -> Rewrite:
    def rewrite(b: Builder, node: Node, x: Use) -> Result:
        return b.elementwise("mul", b.part("log", "log", x), 1 / math.log(base), dtype=node.dtype)

    return rewrite


def _exp2(b: Builder, node: Node, x: Use) -> Result:
    return b.elementwise("exp", b.part("grown", "mul", x, math.log(2)), dtype=node.dtype)


def _hyperbolic(sign: float) -> Rewrite:
    """(exp(x) + sign * exp(-x)) / 2."""

    def rewrite(b: Builder, node: Node, x: Use) -> Result:
        grown = b.part("grown", "exp", x)
        decay = b.part("decay", "exp", b.part("minus", "neg", x))
        both = b.part("both", "add" if sign > 0 else "sub", grown, decay)
        return b.elementwise("mul", both, 0.5, dtype=node.dtype)

    return rewrite


def _tan(b: Builder, node: Node, x: Use) -> Result:
    return b.elementwise("div", b.part("sine", "sin", x), b.part("cosine", "cos", x),
                         dtype=node.dtype)  # fmt: skip


def _atan(b: Builder, node: Node, x: Use) -> Use:
    """Beyond 1 from the reciprocal: the engine's function takes small arguments only."""
    large = b.part("large", "greater", b.part("size", "abs", x), 1.0)
    inside = b.part("inside", "where", large, b.part("inverse", "reciprocal", x), x)
    angle = b.part("angle", "arctan", inside)
    quarter = b.part("quarter", "mul", b.part("side", "sign", x), math.pi / 2)
    rest = b.part("rest", "sub", quarter, angle)
    return b.elementwise("where", large, rest, angle, dtype=node.dtype)


def _asin(b: Builder, node: Node, x: Use) -> Use:
    """The angle whose tangent is x / sqrt((1 - x) * (1 + x))."""
    less, more = b.part("less", "sub", 1.0, x), b.part("more", "add", x, 1.0)
    other = b.part("other", "sqrt", b.part("square", "mul", less, more))
    return _atan(b, node, b.part("tangent", "div", x, other))


def _acos(b: Builder, node: Node, x: Use) -> Result:
    angle = _asin(b, node.model_copy(update={"name": f"{node.name}_sine"}), x)
    return b.elementwise("sub", math.pi / 2, angle, dtype=node.dtype)


def _erfc(b: Builder, node: Node, x: Use) -> Result:
    return b.elementwise("sub", 1.0, b.part("erf", "erf", x), dtype=node.dtype)


def _round(b: Builder, node: Node, x: Use) -> Result:
    """Adding and taking away 1.5 * 2**23 leaves no room for a fraction: half goes to even.

    A value of 2**22 or more has no fraction worth keeping and stays as it is.
    """
    magic = 1.5 * 2**23
    rounded = b.part("rounded", "sub", b.part("lifted", "add", x, magic), magic)
    large = b.part("large", "greater", b.part("size", "abs", x), float(2**22))
    return b.elementwise("where", large, x, rounded, dtype=node.dtype)


def _isnan(b: Builder, node: Node, x: Use) -> Result:
    return b.elementwise("not_equal", x, x, dtype=node.dtype)


def _isinf(b: Builder, node: Node, x: Use) -> Result:
    return b.elementwise("equal", b.part("size", "abs", x), math.inf, dtype=node.dtype)


def _inner(b: Builder, node: Node, kind: str, function: Callable[..., Result], x: Use) -> Use:
    """A function of this module as a step of another, under a name of its own."""
    made = function(b, node.model_copy(update={"name": f"{node.name}_{kind}"}), x)
    assert isinstance(made, Use)  # noqa: S101 - a function of a tensor is one
    return made


def _asinh(b: Builder, node: Node, x: Use) -> Result:
    """log1p(a + a^2 / (1 + sqrt(1 + a^2))) of the size a, which small values survive."""
    size = b.part("size", "abs", x)
    square = b.part("square", "square", x)
    root = b.part("root", "sqrt", b.part("more", "add", square, 1.0))
    rest = b.part("rest", "div", square, b.part("below", "add", root, 1.0))
    grown = _inner(b, node, "log", _log1p, b.part("sum", "add", size, rest))
    return b.elementwise("mul", grown, b.part("side", "sign", x), dtype=node.dtype)


def _acosh(b: Builder, node: Node, x: Use) -> Result:
    """log(x + sqrt((x - 1) * (x + 1)))."""
    less, more = b.part("less", "sub", x, 1.0), b.part("more", "add", x, 1.0)
    root = b.part("root", "sqrt", b.part("square", "mul", less, more))
    return b.elementwise("log", b.part("sum", "add", x, root), dtype=node.dtype)


def _atanh(b: Builder, node: Node, x: Use) -> Result:
    """log1p(2 * x / (1 - x)) / 2, which small values survive."""
    share = b.part("share", "div", b.part("twice", "mul", x, 2.0), b.part("less", "sub", 1.0, x))
    return b.elementwise("mul", _inner(b, node, "log", _log1p, share), 0.5, dtype=node.dtype)


def _atan2(b: Builder, node: Node, y: Use, x: Use) -> Result:
    """The angle of y / x; half a turn is added or taken off where x is below 0."""
    angle = _inner(b, node, "angle", _atan, b.part("slope", "div", y, x))
    upper = b.part("upper", "greater_equal", y, 0.0)
    half = b.part("half", "where", upper, math.pi, -math.pi)
    turned = b.part("turned", "add", angle, half)
    found = b.part("found", "where", b.part("left", "less", x, 0.0), turned, angle)
    size = b.part("size", "add", b.part("high", "abs", y), b.part("wide", "abs", x))
    nowhere = b.part("nowhere", "equal", size, 0.0)
    return b.elementwise("where", nowhere, 0.0, found, dtype=node.dtype)


def _hypot(b: Builder, node: Node, x: Use, y: Use) -> Result:
    total = b.part("total", "add", b.part("first", "square", x), b.part("other", "square", y))
    return b.elementwise("sqrt", total, dtype=node.dtype)


def _copysign(b: Builder, node: Node, x: Use, y: Operand) -> Result:
    """The size of x with the sign of y; a zero counts as above 0, whatever its own sign."""
    size = b.part("size", "abs", x)
    if not isinstance(y, Use):
        return b.elementwise("mul", size, -1.0 if y < 0 else 1.0, dtype=node.dtype)
    below = b.part("below", "less", y, 0.0)
    return b.elementwise("where", below, b.part("minus", "neg", size), size, dtype=node.dtype)


def _rounded(b: Builder, node: Node, x: Use, *, decimals: int) -> Result:
    grown = b.part("grown", "mul", x, 10.0**decimals)
    whole = _inner(b, node, "whole", _round, grown)
    return b.elementwise("div", whole, 10.0**decimals, dtype=node.dtype)


RULES: tuple[Rule, ...] = (
    Rule("aten.pow.Scalar", _scalar_power),
    Rule("aten.log2.default", _log_base(2)),
    Rule("aten.log10.default", _log_base(10)),
    Rule("aten.exp2.default", _exp2),
    Rule("aten.sinh.default", _hyperbolic(-1)),
    Rule("aten.cosh.default", _hyperbolic(1)),
    Rule("aten.tan.default", _tan),
    Rule("aten.atan.default", _atan),
    Rule("aten.asin.default", _asin),
    Rule("aten.acos.default", _acos),
    Rule("aten.erfc.default", _erfc),
    Rule("aten.round.default", _round),
    Rule("aten.isnan.default", _isnan),
    Rule("aten.isinf.default", _isinf),
    Rule("aten.log1p.default", _log1p),
    Rule("aten.expm1.default", _expm1),
    Rule("aten.asinh.default", _asinh),
    Rule("aten.acosh.default", _acosh),
    Rule("aten.atanh.default", _atanh),
    Rule("aten.atan2.default", _atan2),
    Rule("aten.hypot.default", _hypot),
    Rule("aten.copysign.Tensor", _copysign),
    Rule("aten.copysign.Scalar", _copysign),
    Rule("aten.round.decimals", _rounded),
)
