"""The fourth pass: which NKI call computes each operation, by the first rule that answers."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from nkiport.contracts.base import DType
from nkiport.lowering.fusion import Group
from nkiport.lowering.ir import Literal, Op, Use
from nkiport.lowering.joins import balanced, joined, negated
from nkiport.lowering.rules import ANCHORS, REDUCTIONS
from nkiport.lowering.step import Step

DTYPES: Mapping[DType, str] = {
    "float32": "nl.float32", "bfloat16": "nl.bfloat16", "float16": "nl.float16", "bool": "nl.bool_",
    "int32": "nl.int32", "uint8": "nl.uint8", "int8": "nl.int8",
}  # fmt: skip
"""The dtypes a kernel may load and store."""

CALLS: Mapping[str, str] = {
    "abs": "nl.abs", "neg": "nl.negative", "exp": "nl.exp", "log": "nl.log", "sqrt": "nl.sqrt",
    "rsqrt": "nl.rsqrt", "reciprocal": "nisa.reciprocal", "sigmoid": "nl.sigmoid",
    "tanh": "nl.tanh", "relu": "nl.relu", "silu": "nl.silu", "erf": "nl.erf", "sin": "nl.sin",
    "cos": "nl.cos", "arctan": "nl.arctan", "floor": "nl.floor", "ceil": "nl.ceil",
    "trunc": "nl.trunc", "sign": "nl.sign", "square": "nl.square", "gelu": "nl.gelu",
    "gelu_tanh": "nl.gelu_apprx_tanh",
    "logical_not": "nl.logical_not", "add": "nl.add", "sub": "nl.subtract", "mul": "nl.multiply",
    "div": "nl.divide", "pow": "nl.power", "maximum": "nl.maximum", "minimum": "nl.minimum",
    "logical_and": "nl.logical_and", "logical_or": "nl.logical_or", "equal": "nl.equal",
    "not_equal": "nl.not_equal", "less": "nl.less", "less_equal": "nl.less_equal",
    "greater": "nl.greater", "greater_equal": "nl.greater_equal", "where": "nl.where",
    "fmod": "nl.fmod", "softplus": "nl.softplus", "mish": "nl.mish", "copy": "nl.copy",
    "sum": "nl.sum", "mean": "nl.sum", "max": "nl.max", "min": "nl.min",
}  # fmt: skip
"""Kind to call, where the call takes the operands as they are."""

EMPTY: Mapping[str, str] = MappingProxyType({})
VECTOR_BY_SCALAR = frozenset({"add", "sub", "mul", "maximum", "minimum"})
"""What ``nisa.tensor_scalar`` does with a whole tile and one number for each row."""


@dataclass(frozen=True)
class Scope:
    """What a rule may ask: how operands are written, how wide they are, who uses a result."""

    group: Group
    tiles: Mapping[Use | str, str]
    width: str
    """The columns of a tile, as source."""

    def text(self, arg: Use | Literal) -> str:
        """The operand as source."""
        if not isinstance(arg, Use):
            return number(arg)
        return self.tiles[arg.value if arg.value in self.group.results else arg]

    def wide(self, arg: Use | Literal) -> bool:
        """Whether the operand has a value for every column."""
        if not isinstance(arg, Use):
            return False
        inside = self.group.results.get(arg.value)
        return (inside or self.group.reads[arg]).strides[-1] != 0


def number(value: Literal) -> str:
    """A Python literal for a number of the graph.

    >>> number(float("inf")), number(True), number(0.5)
    ('math.inf', '1', '0.5')
    """
    if isinstance(value, bool):
        return str(int(value))
    if math.isnan(value):
        return "math.nan"
    if math.isinf(value):
        return "math.inf" if value > 0 else "-math.inf"
    return repr(value)


def _cast(op: Op, scope: Scope) -> Step | None:
    if op.kind != "cast":
        return None
    if op.dtype not in DTYPES:
        return None
    source = scope.text(op.args[0])
    whole = op.dtype in {"int32", "int8", "uint8"}
    return Step(op, "nl.trunc" if whole else "nl.copy", (source,), (("dtype", DTYPES[op.dtype]),))


def _where(op: Op, scope: Scope) -> Step | None:
    """``nl.where`` takes a tile first; a number in its place becomes one."""
    if op.kind != "where" or isinstance(op.args[1], Use):
        return None
    condition, chosen, other = (scope.text(arg) for arg in op.args)
    filled = f"nl.full({condition}.shape, {chosen}, dtype=nl.float32)"
    return Step(op, "nl.where", (condition, filled, other))


def _by_row(op: Op, scope: Scope) -> Step | None:
    """A tile with one number for each row: one input stream instead of two."""
    if op.kind not in VECTOR_BY_SCALAR:
        return None
    left, right = op.args
    if scope.wide(left) == scope.wide(right):
        return None
    data, row = (left, right) if scope.wide(left) else (right, left)
    turned = (("reverse0", "True"),) if op.kind == "sub" and data is right else ()
    kwargs = (("op0", CALLS[op.kind]), ("operand0", scope.text(row)), *turned)
    return Step(op, "nisa.tensor_scalar", (scope.text(data),), kwargs)


def _division_by_row(op: Op, scope: Scope) -> Step | None:
    """Divide a row by its number: one reciprocal for the row, then a multiplication."""
    if op.kind != "div" or not isinstance(op.args[1], Use):
        return None
    if scope.wide(op.args[1]) or not scope.wide(op.args[0]):
        return None
    inverse = f"nisa.reciprocal({scope.text(op.args[1])})"
    kwargs = (("op0", "nl.multiply"), ("operand0", inverse))
    return Step(op, "nisa.tensor_scalar", (scope.text(op.args[0]),), kwargs)


def _reduction(op: Op, scope: Scope) -> Step | None:
    if op.kind not in {"sum", "mean", "max", "min"}:
        return None
    kwargs = (("axis", "1"), ("keepdims", "True"))
    return Step(op, CALLS[op.kind], (scope.text(op.args[0]),), kwargs)


def _anchor(op: Op, _scope: Scope) -> Step | None:
    """Its kernel has made the tile already."""
    return Step(op, "", ()) if op.kind in ANCHORS else None


def _call(op: Op, scope: Scope) -> Step | None:
    if op.kind not in CALLS:
        return None
    return Step(op, CALLS[op.kind], tuple(scope.text(arg) for arg in op.args))


def _spread(op: Op, scope: Scope) -> Step | None:
    """A full tile from operands that have one number for each row."""
    wide = scope.group.results[op.name].strides[-1] != 0
    if not wide or op.kind in CALLS_ACROSS or any(scope.wide(arg) for arg in op.args):
        return None
    inner = next((s for rule in SELECTION[1:] if (s := rule(op, scope))), None)
    if inner is None:
        return None
    text = ", ".join([*inner.args, *(f"{key}={value}" for key, value in inner.kwargs)])
    shape = f"(P, {scope.width})"
    return Step(op, "nl.broadcast_to", (f"{inner.function}({text})",), (("shape", shape),))


CALLS_ACROSS = ANCHORS | REDUCTIONS
"""Kinds whose result has another width than their operands."""

SELECTION: tuple[Callable[[Op, Scope], Step | None], ...] = (
    _spread, _anchor, _cast, _where, _by_row, _division_by_row, _reduction, _call,
)  # fmt: skip


def select(
    group: Group, tiles: Mapping[Use | str, str], width: str, places: Mapping[str, str] = EMPTY
) -> tuple[Step, ...]:
    """The calls of a group, in order; what is only another name for a tile has none.

    ``places`` are results that go into tiles that are there already.
    """
    scope = Scope(group, tiles, width)
    ops = [op for op in group.ops if tiles[op.name] == places.get(op.name, op.name)]
    found = (next((s for rule in SELECTION if (s := rule(op, scope))), None) for op in ops)
    used = [scope.text(arg) for op in ops for arg in op.args if isinstance(arg, Use)]
    kept = frozenset(tiles[name] for name in group.stored)
    steps = [replace(step, into=places.get(step.op.name, "")) for step in found if step]
    wide = frozenset(op.name for op in ops if group.results[op.name].strides[-1] != 0)
    calls = joined(steps, used, kept, whole_rows=width == "cols")
    return balanced(negated(calls, used, kept) if width == "cols" else calls, wide)
