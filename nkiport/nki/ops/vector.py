"""The vector engine: element-wise arithmetic, reductions, copies and statistics."""

from typing import Any

import numpy as np

from nkiport.nki import costs
from nkiport.nki.checks import (
    broadcastable,
    every,
    free_axes,
    integers_only,
    known_functions,
    not_both_psum,
    vector_or_scalar,
)
from nkiport.nki.dtypes import Array, as_dtype, cast
from nkiport.nki.functions import ALIASES, BINARY, UNARY, Function, function
from nkiport.nki.op import Call, Op, Problem, Table
from nkiport.nki.ops.samples import integer_tiles, tile, tiles, with_columns
from nkiport.nki.ops.scalar import column, unary
from nkiport.nki.targets import Target

VECTOR = Table("vector")
SCALED = frozenset({"add", "subtract", "multiply", "divide"})
"""With a number or a (P, 1) tile these are the scale or the bias of an activation."""


def _binary(name: str, each: Function) -> Op:
    rules = [broadcastable("x", "y"), *([integers_only("x", "y")] if each.integers else [])]
    return Op(
        name=name,
        namespace="nl",
        engine="vector",
        summary=each.summary,
        run=lambda x, y: each.run(x, y),  # noqa: PLW0108 - a ufunc takes no keywords
        cost=costs.two_inputs,
        check=every(*rules),
        sample=integer_tiles("x", "y") if each.integers else tiles("x", "y"),
        exact=each.integers,
        broadcasts=True,
        result_dtype="bool" if each.logical else "promote",
        unasked="scalar" if name in SCALED else None,
    )


for _name, _function in UNARY.items():
    if not _function.activation:
        VECTOR.add(unary(_name, _function, "vector"))
for _name, _function in BINARY.items():
    VECTOR.add(_binary(_name, _function))


def reduced(run: Any, x: Array, axis: Any, keepdims: bool) -> Array:
    """Reduce free axes; the result keeps at least a partition and one free dimension."""
    axes = tuple(each % x.ndim for each in (axis if isinstance(axis, tuple | list) else (axis,)))
    if hasattr(run, "__self__"):  # a ufunc's reduce takes one axis at a time for subtract
        result = x
        left = {"where": ~np.ma.getmaskarray(x)} if np.ma.isMaskedArray(x) else {}
        for each in sorted(axes, reverse=True):
            result = run(np.ma.getdata(result), axis=each, keepdims=True, **left)
            left = {}
    else:
        result = run(x, axis=axes, keepdims=True)
    if keepdims:
        return np.asarray(result)
    kept = [size for index, size in enumerate(result.shape) if index not in axes]
    return np.asarray(result).reshape(kept if len(kept) > 1 else (kept[0], 1))


def _reduction(name: str, summary: str, run: Any, **facts: Any) -> Op:
    return Op(
        name=name,
        namespace="nl",
        engine="vector",
        summary=summary,
        run=lambda x, axis, keepdims=False: reduced(run, x, axis, keepdims),
        cost=costs.reduced,
        check=free_axes,
        sample=tiles("x", axis=[1]),
        reduces=True,
        **facts,
    )


VECTOR.add(_reduction("sum", "Sum over free axes.", np.sum))
VECTOR.add(_reduction("max", "Largest over free axes.", np.max))
VECTOR.add(_reduction("min", "Smallest over free axes.", np.min))
VECTOR.add(_reduction("prod", "Product over free axes.", np.prod))
VECTOR.add(_reduction("all", "Whether all are not zero.", np.all, result_dtype="bool"))
VECTOR.add(_reduction("mean", "Mean over free axes.", np.mean, result_dtype="floating"))
VECTOR.add(_reduction("var", "Population variance.", np.var, result_dtype="floating"))


def _same_tiles(first: str, second: str) -> Any:
    def check(call: Call, _target: Target) -> Any:
        pair = [call.operands[name] for name in (first, second) if name in call.operands]
        if len(pair) > 1 and pair[0].free != pair[1].free:
            yield Problem(
                "err_shape_mismatch",
                f"'{first}' has shape {pair[0].shape} and '{second}' {pair[1].shape}",
                "equal sizes",
                "use nisa.tensor_scalar for a (P, 1) operand, or broadcast_to",
            )

    return check


def _alu(op: str, a: Any, b: Any, swap: bool = False) -> Array:
    each = function(op)
    if ALIASES.get(op, op) in UNARY:
        return np.asarray(each.run(a))
    left, right = (b, a) if swap else (a, b)
    if each.integers:
        left, right = np.asarray(left), np.asarray(right)
        kind = np.result_type(*([v for v in (left, right) if v.ndim] or [left]))
        left, right = left.astype(kind), right.astype(kind)
    return np.asarray(each.run(left, right))


@VECTOR.op(
    "nl",
    cost=costs.two_inputs,
    sample=lambda rng: {
        "condition": rng.integers(0, 2, (64, 24)).astype(np.uint8),
        "x": tile(rng),
        "y": tile(rng),
    },
    broadcasts=True,
    check=every(broadcastable("x", "y"), broadcastable("condition", "x")),
)
def where(condition: Array, x: Array, y: Any) -> Array:
    """Choose from x where the condition is not zero, from y elsewhere."""
    return np.where(np.asarray(condition) != 0, x, y)


@VECTOR.op(
    "nl",
    cost=costs.streamed,
    sample=tiles("src"),
    result_dtype="first",
    exact=True,
    unasked="scalar",
)
def copy(src: Array) -> Array:
    """Copy a tile."""
    return src.copy()


@VECTOR.op(
    "nisa",
    cost=costs.streamed,
    sample=tiles("src"),
    result_dtype="first",
    exact=True,
    unasked="scalar",
)
def tensor_copy(src: Array, engine: str | None = None) -> Array:  # noqa: ARG001
    """Copy a tile between SBUF and PSUM."""
    return src.copy()


@VECTOR.op(
    "nisa",
    cost=costs.two_inputs,
    sample=tiles("data1", "data2", op="add"),
    check=every(
        _same_tiles("data1", "data2"), not_both_psum("data1", "data2"), known_functions("op")
    ),
)
def tensor_tensor(data1: Array, data2: Array, op: str, engine: str | None = None) -> Array:  # noqa: ARG001
    """Combine two tiles element by element."""
    return _alu(op, data1, data2.reshape(data1.shape))


@VECTOR.op(
    "nisa",
    cost=costs.streamed,
    sample=with_columns(("data",), ("operand0",), op0="multiply", op1="add", operand1=1.5),
    check=every(vector_or_scalar("operand0", "operand1"), known_functions("op0", "op1")),
    unasked="scalar",
)
def tensor_scalar(
    data: Array,
    op0: str,
    operand0: Any,
    reverse0: bool = False,
    op1: str | None = None,
    operand1: Any = None,
    reverse1: bool = False,
    engine: str | None = None,  # noqa: ARG001
) -> Array:
    """Combine a tile with a number or (P, 1) tile, and the result with a second one."""
    result = _alu(op0, data, column(operand0, data), reverse0)
    return result if op1 is None else _alu(op1, result, column(operand1, data), reverse1)


@VECTOR.op(
    "nisa",
    cost=costs.streamed_and_read_back,
    sample=with_columns(("data",), ("operand0", "reduce_res"), op0="multiply", reduce_op="add"),
    check=every(vector_or_scalar("operand0", "reduce_res"), known_functions("op0", "reduce_op")),
    writes=("reduce_res",),
    reduces=True,
    keeps_shape=True,
)
def tensor_scalar_reduce(
    data: Array,
    op0: str,
    operand0: Any,
    reduce_op: str,
    reduce_res: Array,  # noqa: ARG001
    reverse0: bool = False,
) -> tuple[Array, Array]:
    """Combine a tile with a number or (P, 1) tile, and reduce each row of the result."""
    result = _alu(op0, data, column(operand0, data), reverse0)
    rows = result.reshape(result.shape[0], -1)
    return result, reduced(function(reduce_op).reduce, rows, 1, keepdims=True)


def _reducible(call: Call, target: Target) -> Any:
    yield from free_axes(call, target)
    yield from known_functions("op")(call, target)
    name = ALIASES.get(call.attributes.get("op", ""), call.attributes.get("op", ""))
    if name in BINARY and BINARY[name].reduce is None:
        allowed = ", ".join(sorted(n for n, each in BINARY.items() if each.reduce))
        yield Problem("err_unknown_operator", f"a reduction by {name}", f"one of {allowed}")


@VECTOR.op(
    "nisa",
    cost=costs.reduced,
    sample=tiles("data", op="add", axis=[1]),
    check=_reducible,
    reduces=True,
    result_dtype="first",
)
def tensor_reduce(
    op: str, data: Array, axis: Any, negate: bool = False, keepdims: bool = False
) -> Array:
    """Reduce free axes of a tile."""
    result = reduced(function(op).reduce, data, axis, keepdims)
    return -result if negate else result


@VECTOR.op("nisa", cost=costs.streamed, sample=tiles("data"), unasked="scalar")
def reciprocal(data: Array) -> Array:
    """Divide one by each element, more precisely than the scalar engine does."""
    return 1 / data


@VECTOR.op(
    "nisa",
    cost=costs.filled,
    sample=lambda _rng: {"shape": (64, 24), "value": 2.5, "dtype": "float32"},
)
def memset(shape: Any, value: float, dtype: Any, engine: str | None = None) -> Array:  # noqa: ARG001
    """Make a tile of one constant."""
    return cast(np.full(tuple(shape), value), as_dtype(dtype))


@VECTOR.op(
    "nisa",
    cost=costs.times(2),
    sample=lambda rng: {
        "src": tile(rng),
        "dst": tile(rng),
        "predicate": rng.integers(0, 2, (64, 24)).astype(np.uint8),
    },
    check=every(_same_tiles("src", "dst"), not_both_psum("src", "predicate")),
    result=None,
    writes=("dst",),
    reads_written=True,
    exact=True,
)
def tensor_copy_predicated(
    src: Array, dst: Array, predicate: Array, reverse_pred: bool = False
) -> tuple[None, Array]:
    """Copy where the predicate is not zero (zero, if reversed); leave the rest as it was."""
    chosen = (predicate == 0) if reverse_pred else (predicate != 0)
    return None, np.where(chosen, src, dst)


@VECTOR.op(
    "nisa",
    cost=costs.times(2),
    sample=lambda rng: {
        "data": tile(rng),
        "op0": "multiply",
        "operand0": tile(rng, columns=1),
        "op1": "add",
        "operand1": tile(rng),
    },
    check=every(
        vector_or_scalar("operand0"),
        _same_tiles("data", "operand1"),
        not_both_psum("data", "operand1"),
        known_functions("op0", "op1"),
    ),
)
def scalar_tensor_tensor(
    data: Array,
    op0: str,
    operand0: Any,
    op1: str,
    operand1: Array,
    reverse0: bool = False,
    reverse1: bool = False,
) -> Array:
    """Combine a tile with a number or (P, 1) tile, and the result with a second tile."""
    first = _alu(op0, data, column(operand0, data), reverse0)
    return _alu(op1, first, operand1, reverse1)


@VECTOR.op(
    "nisa",
    cost=costs.times(2),
    sample=lambda rng: {
        "data0": tile(rng),
        "data1": tile(rng),
        "initial": tile(rng, columns=1),
        "op0": "multiply",
        "op1": "add",
    },
    check=every(
        vector_or_scalar("initial"),
        _same_tiles("data0", "data1"),
        not_both_psum("data0", "data1"),
        known_functions("op0", "op1"),
    ),
)
def tensor_tensor_scan(
    data0: Array,
    data1: Array,
    initial: Any,
    op0: str,
    op1: str,
    reverse0: bool = False,
    reverse1: bool = False,
) -> Array:
    """Scan each row: r[i] = op1(op0(data0[i], r[i - 1]), data1[i]), starting from ``initial``."""
    result = np.empty_like(data0)
    state = np.broadcast_to(np.asarray(initial, np.float32), (len(data0), 1))[:, 0]
    for index in range(data0.shape[1]):
        state = _alu(op0, data0[:, index], state, reverse0)
        state = _alu(op1, state, data1[:, index], reverse1)
        result[:, index] = state
    return result
