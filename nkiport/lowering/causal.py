"""Finds what a graph computes without its inputs: a mask that hides what comes later."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nkiport.lowering.fusion import Group
from nkiport.lowering.ir import Literal, Op, Program, Span, Use

Constant = NDArray[np.generic]

FUNCTIONS: Mapping[str, Callable[..., Constant]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "less": np.less,
    "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal,
    "equal": np.equal, "not_equal": np.not_equal, "logical_and": np.logical_and,
    "logical_or": np.logical_or, "logical_not": np.logical_not, "where": np.where,
    "copy": np.positive, "cast": np.asarray,
}  # fmt: skip
"""What masks are made of."""
HIDES = -1e30
"""What is added to a score, or put in its place, so that its weight is 0."""


def without_triangle(program: Program, group: Group, tile: int) -> tuple[Group, float] | None:
    """The group without its last operation, if that hides the keys after each row's own.

    The rows are the last of the keys; both come in whole tiles. Gives what hidden scores become.
    """
    *_, rows, keys = group.sizes
    last = group.ops[-1]
    if keys < rows or rows % tile or keys % tile or len(group.ops) == 1:
        return None
    found = _replaced(program, last) or _added(program, last)
    if found is None:
        return None
    hidden, inner, fill = found
    triangle = np.triu(np.ones((rows, keys), np.bool_), keys - rows + 1)
    if inner.value not in group.results or hidden.shape[-2:] != triangle.shape:
        return None
    if not all((plane == triangle).all() for plane in hidden.reshape(-1, rows, keys)[:1]):
        return None
    return _without(group, inner), fill


def _replaced(program: Program, op: Op) -> tuple[Constant, Use, float] | None:
    """Where a condition puts a number, what it puts it into, and the number."""
    if op.kind != "where":
        return None
    hidden = _plane(program, op.args[0])
    chosen, other = op.args[1:]
    for flip, number, inner in ((False, chosen, other), (True, other, chosen)):
        fill = _number(program, number)
        if hidden is not None and fill is not None and fill <= HIDES and isinstance(inner, Use):
            shown = hidden.astype(np.bool_)
            return (~shown if flip else shown), inner, fill
    return None


def _added(program: Program, op: Op) -> tuple[Constant, Use, float] | None:
    """The same, where a mask of 0 and -inf is added."""
    for mask, inner in (op.args, op.args[::-1]) if op.kind == "add" else ():
        plane = _plane(program, mask)
        if plane is None or not isinstance(inner, Use):
            continue
        hidden = plane.astype(np.float32) <= HIDES
        if (plane[~hidden] == 0).all() and hidden.any():
            return hidden, inner, float(plane[hidden].max())
    return None


def _plane(program: Program, arg: Use | Literal) -> Constant | None:
    """A mask that is the same for the whole batch."""
    if not isinstance(arg, Use) or len(arg.shape) < 2 or any(arg.strides[:-2]):  # noqa: PLR2004
        return None
    plane = replace(arg, dims=arg.dims[-2:], strides=arg.strides[-2:])
    return constant(program, plane)


def _number(program: Program, arg: Use | Literal) -> float | None:
    if not isinstance(arg, Use):
        return float(arg)
    one = None if any(arg.strides) else constant(program, replace(arg, dims=(), strides=()))
    return None if one is None else float(one)


def constant(program: Program, use: Use) -> Constant | None:
    """What a use reads, if no input has a part in it."""
    made = program.stored(use.value)
    if not isinstance(made, Op):
        return None
    flat: Constant | None
    if isinstance(made.detail, Span):
        flat = made.detail.start + made.detail.step * np.arange(made.shape[0])
    else:
        flat = _computed(program, made)
    if flat is None:
        return None
    flat = np.ascontiguousarray(flat).reshape(-1)[use.offset :]
    steps = [step * flat.itemsize for step in use.strides]
    return np.lib.stride_tricks.as_strided(flat, use.shape, steps)


def _computed(program: Program, op: Op) -> Constant | None:
    if op.kind not in FUNCTIONS:
        return None
    args = [constant(program, arg) if isinstance(arg, Use) else arg for arg in op.args]
    if any(arg is None for arg in args):
        return None
    return np.broadcast_to(FUNCTIONS[op.kind](*args), op.shape)


def _without(group: Group, inner: Use) -> Group:
    """The operations that the inner value needs; the group's result keeps its name."""
    names = {inner.value}
    for op in reversed(group.ops):
        if op.name in names:
            names |= {use.value for use in op.uses}
    ops = tuple(op for op in group.ops if op.name in names)
    left = {use for op in ops for use in op.uses}
    reads = {use: access for use, access in group.reads.items() if use in left}
    return replace(group, ops=ops, reads=reads)
