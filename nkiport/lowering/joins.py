"""Two calls that one instruction can do become one: fewer passes of an engine over a tile."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from nkiport.lowering.step import Step

FIRST = frozenset({"op0", "operand0", "reverse0"})
"""What a call of ``nisa.tensor_scalar`` with one operation has."""
ON_SCALAR = frozenset(
    {"nl.exp", "nl.tanh", "nl.sigmoid", "nl.relu", "nl.silu", "nl.square", "nl.gelu",
     "nl.gelu_apprx_tanh", "nl.softplus", "nl.erf", "nl.abs"}
)  # fmt: skip
"""Activation functions that take any input; the scalar engine scales and shifts before them."""


def joined(steps: Sequence[Step], used: Iterable[str], kept: frozenset[str]) -> tuple[Step, ...]:
    """The calls, in order, with those left out that the next one does as well.

    ``used`` names each operand of each call, ``kept`` the tiles that are stored.
    """
    counts = Counter(used)
    done: dict[str, Step] = {}
    for step in steps:
        before = done.get(step.args[0]) if step.args else None
        one = None
        if before and counts[before.op.name] == 1 and before.op.name not in kept:
            one = next((made for rule in JOINS if (made := rule(before, step))), None)
            if one:
                del done[before.op.name]
        done[step.op.name] = one or step
    return tuple(done.values())


def _two_operations(first: Step, then: Step) -> Step | None:
    """``nisa.tensor_scalar`` takes two operations, each with a number or one value a row."""
    if not (_single(first) and _single(then)):
        return None
    second = tuple((name.replace("0", "1"), value) for name, value in then.kwargs)
    return Step(then.op, first.function, first.args, (*first.kwargs, *second))


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
    return Step(then.op, "nisa.activation", (), args)


def _single(step: Step) -> bool:
    return step.function == "nisa.tensor_scalar" and {name for name, _ in step.kwargs} <= FIRST


JOINS: tuple[Callable[[Step, Step], Step | None], ...] = (_two_operations, _scaled_activation)
