"""Two calls that one instruction can do become one: fewer passes of an engine over a tile."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from nkiport.lowering.rules import REDUCTIONS
from nkiport.lowering.step import Step

FIRST = frozenset({"op0", "operand0", "reverse0"})
"""What a call of ``nisa.tensor_scalar`` with one operation has."""
ON_SCALAR = frozenset(
    {"nl.exp", "nl.tanh", "nl.sigmoid", "nl.relu", "nl.silu", "nl.square", "nl.gelu",
     "nl.gelu_apprx_tanh", "nl.softplus", "nl.erf", "nl.abs"}
)  # fmt: skip
"""Activation functions that take any input; the scalar engine scales and shifts before them."""


def joined(
    steps: Sequence[Step], used: Iterable[str], kept: frozenset[str], *, whole_rows: bool
) -> tuple[Step, ...]:
    """The calls, in order, with those left out that the next one does as well.

    ``used`` names each operand of each call, ``kept`` the tiles that are stored. Only where a
    tile holds whole rows does the scalar engine add them up beside.
    """
    counts = Counter(used)
    done: dict[str, Step] = {}
    for step in steps:
        before = done.get(step.args[0]) if step.args else None
        one = None
        if before and counts[before.tile] == 1 and before.tile not in kept:
            one = next((made for rule in JOINS if (made := rule(before, step))), None)
            if one:
                del done[before.tile]
        done[step.tile] = one or step
        if before and whole_rows and not one and (pair := _added_up(before, step)):
            done[before.tile], rest = pair
            del done[step.tile]
            done |= {step.tile: rest} if rest else {}
    return tuple(done.values())


def _added_up(first: Step, then: Step) -> tuple[Step, Step | None] | None:
    """The scalar engine adds up what it computes, row by row, at no cost."""
    if then.op.kind not in {"sum", "mean"} or then.function != "nl.sum" or first.before:
        return None
    given: tuple[tuple[str, str], ...]
    if first.function in ON_SCALAR and len(first.args) == 1 and not first.kwargs:
        given = (("op", first.function), ("data", first.args[0]))
    elif first.function == "nisa.activation":
        given = first.kwargs
    else:
        return None
    name = then.tile if then.op.kind == "sum" else f"{then.op.name}_total"
    made = () if name == then.into else (f"{name} = nl.ndarray((P, 1), dtype=nl.float32)",)
    adds = (*given, ("reduce_op", "nl.add"), ("reduce_res", name))
    both = Step(first.op, "nisa.activation_reduce", (), adds, made, first.into)
    total = replace(then, function="", args=(name,), kwargs=())
    return both, (total if then.op.kind == "mean" else None)


def _two_operations(first: Step, then: Step) -> Step | None:
    """``nisa.tensor_scalar`` takes two operations, each with a number or one value a row."""
    if not (_single(first) and _single(then)):
        return None
    second = tuple((name.replace("0", "1"), value) for name, value in then.kwargs)
    return Step(then.op, first.function, first.args, (*first.kwargs, *second), into=then.into)


def _scaled_activation(first: Step, then: Step) -> Step | None:
    """``nisa.activation`` computes f(x * scale + bias)."""
    given = dict(first.kwargs)
    if then.function not in ON_SCALAR or len(then.args) != 1 or not _single(first):
        return None
    if "reverse0" in given or then.kwargs:
        return None
    operand = given["operand0"]
    wide = operand[0].isalpha() and not operand.startswith("math.")
    options = {
        "nl.multiply": (("scale", operand),),
        "nl.add": (("bias", operand),) if wide else None,
        "nl.subtract": (("bias", f"nl.negative({operand})"),) if wide else None,
    }.get(given["op0"])
    if options is None:
        return None
    args = (("op", then.function), ("data", first.args[0]), *options)
    return Step(then.op, "nisa.activation", (), args, into=then.into)


def _single(step: Step) -> bool:
    return step.function == "nisa.tensor_scalar" and {name for name, _ in step.kwargs} <= FIRST


JOINS: tuple[Callable[[Step, Step], Step | None], ...] = (_two_operations, _scaled_activation)


def negated(steps: Sequence[Step], used: Iterable[str], kept: frozenset[str]) -> tuple[Step, ...]:
    """The calls, with a maximum that is only subtracted negated as it is reduced, at no cost."""
    counts = Counter(used)
    shifts = {value: step for step in steps for key, value in step.kwargs if key == "bias"}
    done = {step.tile: step for step in steps}
    for step in steps:
        shifted = shifts.get(f"nl.negative({step.tile})")
        if step.function != "nl.max" or not shifted or step.into:
            continue
        if counts[step.tile] > 1 or step.tile in kept:
            continue
        name = f"{step.tile}_negative"
        given = (("op", step.function), ("data", step.args[0]), ("axis", "1"), ("negate", "True"))
        done[step.tile] = replace(
            step, function="nisa.tensor_reduce", args=(), into=name,
            kwargs=(*given, ("keepdims", "True")),
        )  # fmt: skip
        bias = tuple((k, name if k == "bias" else v) for k, v in shifted.kwargs)
        done[shifted.tile] = replace(done[shifted.tile], kwargs=bias)
    return tuple(done.values())


def balanced(steps: Sequence[Step], wide: frozenset[str]) -> tuple[Step, ...]:
    """Products with one value a row move to the scalar engine while the vector engine has more.

    ``wide`` names the results that have a value for every column: others cost next to nothing.
    """
    heavy = [step for step in steps if step.op.name in wide or step.op.kind in REDUCTIONS]
    scalar = sum(step.function in ON_SCALAR or _activated(step) for step in heavy)
    vector = sum(_streams(step) for step in heavy) - scalar
    moved = {}
    for step in reversed(heavy):
        given = dict(step.kwargs)
        plain = given.keys() == {"op0", "operand0"} and given["op0"] == "nl.multiply"
        if step.function == "nisa.tensor_scalar" and plain and vector > scalar + 1:
            scaled = (("op", "nl.copy"), ("data", step.args[0]), ("scale", given["operand0"]))
            moved[step.op.name] = replace(step, function="nisa.activation", args=(), kwargs=scaled)
            vector, scalar = vector - 1, scalar + 1
    return tuple(moved.get(step.op.name, step) for step in steps)


def _activated(step: Step) -> bool:
    return step.function.startswith("nisa.activation")


def _streams(step: Step) -> int:
    """How many passes over a tile a call is: operands that are two tiles share one port."""
    tiles = [arg for arg in step.args if arg[0].isalpha()]
    return max(1, len(tiles))
