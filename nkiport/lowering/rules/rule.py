"""What a rule is, and the kinds of operation the passes after the normal form know."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nkiport.lowering.builder import Operand

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
    "maximum": "maximum", "minimum": "minimum", "logical_and": "logical_and",
    "logical_or": "logical_or",
}  # fmt: skip

COMPARE: Mapping[str, str] = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}  # fmt: skip

ELEMENTWISE = frozenset(
    {*UNARY.values(), *BINARY.values(), *COMPARE.values()}
    | {"add", "sub", "mul", "div", "fmod", "pow", "where", "copy", "cast"}
    | {"gelu", "gelu_tanh", "arctan", "mish", "square", "softplus"}
)
REDUCTIONS = frozenset({"sum", "max", "min", "mean"})
ANCHORS = frozenset({"matmul", "conv", "pool"})
"""Kinds with a kernel of their own, which computes what follows on each tile too."""
SOLO = frozenset({"assembly", "span", "gather", "pick", "scan", "recurrence"})
"""Kinds with a kernel of their own, and nothing else in it."""
KINDS = ELEMENTWISE | REDUCTIONS | ANCHORS | SOLO
"""What the passes after this one know."""
