"""The passes, in order, and what must hold after each."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nkiport.contracts.errors import UnsupportedGraph
from nkiport.contracts.graph import Graph
from nkiport.lowering.algebra import rearranged
from nkiport.lowering.chain import Chain, plan_chain
from nkiport.lowering.chains import Part, chained
from nkiport.lowering.emit import AnyPlan, emit
from nkiport.lowering.fusion import Group, fuse, unfused
from nkiport.lowering.ir import Program
from nkiport.lowering.layout import laid_out
from nkiport.lowering.normal import normal_form
from nkiport.lowering.rowed import rowed
from nkiport.lowering.rules import KINDS
from nkiport.lowering.select import DTYPES
from nkiport.lowering.tiling import oversized, tile
from nkiport.lowering.tuning import Tuning
from nkiport.lowering.writer import WIDTH
from nkiport.nki import Target

Trace = Callable[[str, object], None]


@dataclass(frozen=True)
class State:
    """What has been decided so far; each pass fills the next field."""

    graph: Graph
    target: Target
    name: str
    program: Program
    tuning: Tuning
    groups: Sequence[Part] = ()
    plans: Sequence[AnyPlan] = ()
    source: str = ""


@dataclass(frozen=True)
class Pass:
    """``run`` gives the fields it decides; ``left`` lists what it should not have left over."""

    name: str
    run: Callable[[State], dict[str, Any]]
    left: Callable[[State], Sequence[str]]


def _illegal_ops(state: State) -> list[str]:
    return [
        f"{op.name}: {op.kind} {op.dtype}"
        for op in state.program.ops
        if op.kind not in KINDS or op.dtype not in DTYPES
    ]


def _illegal_source(state: State) -> list[str]:
    long = [line for line in state.source.splitlines() if len(line) > WIDTH]
    try:
        ast.parse(state.source)
    except SyntaxError as problem:
        return [*long, str(problem)]
    return long


def _chained(state: State) -> tuple[Program, Sequence[Part]]:
    groups = [part for part in state.groups if isinstance(part, Group)]
    if not state.tuning.chains:
        return state.program, groups
    program, parts = chained(state.program, groups, state.target)
    return program, rowed(program, parts, state.target)


def _tiled(state: State) -> tuple[AnyPlan, ...]:
    return tuple(
        plan_chain(part, state.target)
        if isinstance(part, Chain)
        else tile(state.program, part, state.target, state.tuning)
        for part in state.groups
    )


PASSES: tuple[Pass, ...] = (
    Pass("normal form", lambda s: {"program": normal_form(s.graph)}, _illegal_ops),
    Pass("algebra", lambda s: {"program": rearranged(s.program)}, _illegal_ops),
    Pass("layout", lambda s: {"program": laid_out(s.program)}, _illegal_ops),
    Pass(
        "fusion groups",
        lambda s: {"groups": fuse(s.program)},
        lambda s: unfused(s.program, s.groups),
    ),
    Pass(
        "chains",
        lambda s: dict(zip(("program", "groups"), _chained(s), strict=True)),
        lambda s: unfused(s.program, s.groups),
    ),
    Pass(
        "tiling",
        lambda s: {"plans": _tiled(s)},
        lambda s: oversized(s.plans, s.target),
    ),
    Pass(
        "selection and emission",
        lambda s: {"source": emit(s.program, s.plans, s.name)},
        _illegal_source,
    ),
)


def check(name: str, left: Sequence[str]) -> None:
    """Raise ``UnsupportedGraph`` with the pass's name if it left something over."""
    if left:
        raise UnsupportedGraph(f"the pass '{name}' left what it must not: {'; '.join(left)}")
