"""Arithmetic on numbers alone: computed here, so that a kernel reads the result as a number."""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from nkiport.contracts.graph import Node
from nkiport.lowering.ir import Literal


def number_of(node: Node, args: Sequence[Any]) -> Literal | None:
    """What a node gives on numbers, in the precision of Python; None if this is no such node."""
    _, name, _ = node.op.split(".")
    if node.shape or name not in FOLDED or not all(isinstance(a, bool | int | float) for a in args):
        return None
    try:
        value = FOLDED[name](*args)
    except (ArithmeticError, ValueError, TypeError):
        return None
    kinds: Mapping[str, Callable[[Any], Literal]] = {"bool": bool, "int64": int, "int32": int}
    return kinds.get(node.dtype, float)(value)


def _scaled(join: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda x, y, alpha=1: join(x, alpha * y)


FOLDED: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "add": _scaled(operator.add),
        "sub": _scaled(operator.sub),
        "rsub": lambda x, y, alpha=1: y - alpha * x,
        "mul": operator.mul,
        "div": operator.truediv,
        "pow": operator.pow,
        "neg": operator.neg,
        "abs": abs,
        "exp": math.exp,
        "log": math.log,
        "sqrt": math.sqrt,
        "rsqrt": lambda x: 1 / math.sqrt(x),
        "reciprocal": lambda x: 1 / x,
        "sin": math.sin,
        "cos": math.cos,
        "tanh": math.tanh,
        "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
        "relu": lambda x: max(x, 0),
        "maximum": max,
        "minimum": min,
        "eq": operator.eq,
        "ne": operator.ne,
        "lt": operator.lt,
        "le": operator.le,
        "gt": operator.gt,
        "ge": operator.ge,
    }
)
"""ATen name to what it is on numbers."""
