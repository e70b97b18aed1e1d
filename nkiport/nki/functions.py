"""The element functions that ``nl`` offers and that ``op=`` arguments name, in one table.

Each computes in float32 what the hardware's ALUs and activation tables stand for; the tables'
piece-wise approximation error is not public and not modelled.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from nkiport.nki.dtypes import Array

ROOT_2 = np.float32(2**0.5)
TWO_OVER_ROOT_PI = np.float32(2 / np.pi**0.5)

_ERFC = (
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806,
    0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277,
)  # fmt: skip
"""Chebyshev fit of erfc, relative error under 1.2e-7 everywhere (Numerical Recipes)."""


def erf(x: Array) -> Array:
    """Error function, to about float32's precision: a series near 0, the fit elsewhere."""
    wide = np.abs(x.astype(np.float64))
    t = 1.0 / (1.0 + 0.5 * wide)
    far = 1.0 - t * np.exp(-wide * wide + np.polyval(_ERFC[::-1], t))
    square = np.minimum(wide, 1.0) ** 2
    series = (1 / 1, -1 / 3, 1 / 10, -1 / 42, 1 / 216, -1 / 1320, 1 / 9360, -1 / 75600)
    near = 2 / np.pi**0.5 * wide * np.polyval(series[::-1], square)
    return np.asarray(np.copysign(np.where(wide < 0.5, near, far), x), np.float32)  # noqa: PLR2004


def sigmoid(x: Array) -> Array:
    """Logistic function."""
    return np.asarray(1 / (1 + np.exp(-x)))


def softplus(x: Array) -> Array:
    """log(1 + exp(x)), without overflow."""
    return np.logaddexp(x, np.zeros_like(x))


def gaussian_cdf(x: Array) -> Array:
    """Share of a normal distribution below x."""
    return np.asarray((1 + erf(x / ROOT_2)) / 2)


def gelu_tanh(x: Array) -> Array:
    """Gelu by its tanh approximation."""
    inner = np.float32((2 / np.pi) ** 0.5) * (x + 0.044715 * x**3)
    return np.asarray(x / 2 * (1 + np.tanh(inner)))


def gelu_dx(x: Array) -> Array:
    """Derivative of gelu."""
    return gaussian_cdf(x) + x * np.exp(-x * x / 2) / np.float32((2 * np.pi) ** 0.5)


def silu_dx(x: Array) -> Array:
    """Derivative of silu."""
    s = sigmoid(x)
    return np.asarray(s * (1 + x * (1 - s)))


@dataclass(frozen=True)
class Function:
    """An element function."""

    run: Callable[..., Any]
    summary: str
    activation: bool = False
    """Whether the scalar engine has it as an activation."""
    low: float = -np.inf
    high: float = np.inf
    """The input range within which the scalar engine's result is valid."""
    logical: bool = False
    """Whether the result is a truth value."""
    integers: bool = False
    """Whether it works on bits, and so on integers only."""
    identity: float | None = None
    """Where a reduction with it starts; None if it cannot reduce."""
    reduce: Callable[..., Any] | None = None


def _activation(run: Callable[..., Any], summary: str, low: float = -np.inf) -> Function:
    return Function(run, summary, activation=True, low=low)


UNARY: Mapping[str, Function] = MappingProxyType(
    {
        "abs": _activation(np.abs, "Absolute value."),
        "arctan": Function(
            np.arctan, "Inverse tangent.", activation=True, low=-np.pi / 2, high=np.pi / 2
        ),
        "ceil": Function(np.ceil, "Smallest integer not below x."),
        "copy": _activation(np.positive, "The value itself."),
        "cos": Function(np.cos, "Cosine."),
        "erf": _activation(erf, "Error function."),
        "erf_dx": _activation(
            lambda x: TWO_OVER_ROOT_PI * np.exp(-x * x), "Derivative of the error function."
        ),
        "exp": _activation(np.exp, "Exponential."),
        "floor": Function(np.floor, "Largest integer not above x."),
        "gelu": _activation(lambda x: x * gaussian_cdf(x), "Gaussian error linear unit, exact."),
        "gelu_apprx_sigmoid": _activation(
            lambda x: x * sigmoid(np.float32(1.702) * x), "Gelu by its sigmoid approximation."
        ),
        "gelu_apprx_tanh": _activation(gelu_tanh, "Gelu by its tanh approximation."),
        "gelu_dx": _activation(gelu_dx, "Derivative of gelu."),
        "invert": Function(np.invert, "Bits turned over.", integers=True),
        "log": Function(np.log, "Natural logarithm.", activation=True, low=2.0**-64, high=2.0**64),
        "logical_not": Function(np.logical_not, "Whether x is zero.", logical=True),
        "mish": _activation(lambda x: x * np.tanh(softplus(x)), "x times tanh(softplus(x))."),
        "negative": Function(np.negative, "Sign turned."),
        "reciprocal": Function(
            lambda x: 1 / x, "One divided by x.", activation=True, low=-(2.0**42), high=2.0**42
        ),
        "relu": _activation(lambda x: np.maximum(x, 0), "The larger of x and 0."),
        "rsqrt": Function(
            lambda x: 1 / np.sqrt(x),
            "One divided by the square root.",
            activation=True,
            low=2.0**-87,
            high=2.0**97,
        ),
        "sigmoid": _activation(sigmoid, "Logistic function."),
        "sign": _activation(np.sign, "-1, 0 or 1."),
        "silu": _activation(lambda x: x * sigmoid(x), "x times its logistic function."),
        "silu_dx": _activation(silu_dx, "Derivative of silu."),
        "sin": Function(np.sin, "Sine.", activation=True, low=-np.pi, high=np.pi),
        "softplus": _activation(softplus, "log(1 + exp(x))."),
        "sqrt": Function(np.sqrt, "Square root.", activation=True, low=2.0**-116, high=2.0**118),
        "square": _activation(np.square, "x times x."),
        "tan": Function(np.tan, "Tangent."),
        "tanh": _activation(np.tanh, "Hyperbolic tangent."),
        "trunc": Function(np.trunc, "x without its fraction."),
    }
)


def _alu(
    run: Callable[..., Any],
    summary: str,
    identity: float | None = None,
    reduce: Callable[..., Any] | None = None,
) -> Function:
    return Function(run, summary, identity=identity, reduce=reduce)


def _bits(
    run: Callable[..., Any], summary: str, reduce: Callable[..., Any] | None = None
) -> Function:
    return Function(run, summary, integers=True, reduce=reduce)


def _logical(run: Callable[..., Any], summary: str) -> Function:
    return Function(run, summary, logical=True)


BINARY: Mapping[str, Function] = MappingProxyType(
    {
        "add": _alu(np.add, "Sum.", 0.0, np.sum),
        "subtract": _alu(np.subtract, "Difference.", None, np.subtract.reduce),
        "multiply": _alu(np.multiply, "Product.", 1.0, np.prod),
        "divide": _alu(np.divide, "Quotient."),
        "maximum": _alu(np.maximum, "The larger.", -np.inf, np.max),
        "minimum": _alu(np.minimum, "The smaller.", np.inf, np.min),
        "power": _alu(np.power, "x to the power of y."),
        "mod": _alu(np.mod, "Remainder with the divisor's sign."),
        "fmod": _alu(np.fmod, "Remainder with the dividend's sign."),
        "bitwise_and": _bits(np.bitwise_and, "Bits of both.", np.bitwise_and.reduce),
        "bitwise_or": _bits(np.bitwise_or, "Bits of either.", np.bitwise_or.reduce),
        "bitwise_xor": _bits(np.bitwise_xor, "Bits of one only.", np.bitwise_xor.reduce),
        "left_shift": _bits(np.left_shift, "Bits moved up."),
        "right_shift": _bits(np.right_shift, "Bits moved down, zeros coming in."),
        "equal": _logical(np.equal, "Whether equal."),
        "not_equal": _logical(np.not_equal, "Whether different."),
        "less": _logical(np.less, "Whether x is below y."),
        "less_equal": _logical(np.less_equal, "Whether x is not above y."),
        "greater": _logical(np.greater, "Whether x is above y."),
        "greater_equal": _logical(np.greater_equal, "Whether x is not below y."),
        "logical_and": _logical(np.logical_and, "Whether both are not zero."),
        "logical_or": _logical(np.logical_or, "Whether either is not zero."),
        "logical_xor": _logical(np.logical_xor, "Whether exactly one is not zero."),
    }
)

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "max": "maximum", "amax": "maximum", "min": "minimum", "amin": "minimum", "sum": "add",
        "prod": "multiply", "absolute": "abs", "true_divide": "divide", "bitwise_not": "invert",
    }
)  # fmt: skip
"""Other names under which NumPy and ``nl`` pass the same function as an ``op=`` argument."""


BITS = frozenset(n for table in (UNARY, BINARY) for n, each in table.items() if each.integers)
"""The functions that work on bits."""


def function(name: str) -> Function:
    """Return the element function that an ``op=`` argument names; ``KeyError`` if it is none."""
    name = ALIASES.get(name, name)
    return BINARY[name] if name in BINARY else UNARY[name]
