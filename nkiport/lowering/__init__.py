"""Lowering: a captured core-ATen graph becomes readable NKI source, by rules, without a model."""

from collections.abc import Callable
from dataclasses import replace

from nkiport.contracts.base import ON_DEVICE, TargetName
from nkiport.contracts.errors import UnsupportedGraph
from nkiport.contracts.graph import Graph
from nkiport.lowering.ir import Program
from nkiport.lowering.passes import PASSES, State, check
from nkiport.lowering.rules import rule_table
from nkiport.lowering.select import DTYPES
from nkiport.lowering.tuning import Tuning
from nkiport.nki import target as target_of

__all__ = ["Tuning", "lower", "uncovered"]


def uncovered(graph: Graph) -> tuple[str, ...]:
    """The overloads no rule covers, once each, sorted."""
    known = rule_table()
    return tuple(sorted({node.op for node in graph.nodes} - set(known)))


def lower(
    graph: Graph,
    *,
    target: TargetName = "trn1",
    name: str = "kernel",
    tuning: Tuning = Tuning(),  # noqa: B008 - frozen
    trace: Callable[[str, object], None] | None = None,
) -> str:
    """The candidate's source: the same bytes for the same graph, target, name and tuning.

    ``trace`` is called after each pass with its name and what it decided. Raises
    ``UnsupportedGraph`` with everything that stands in the way.
    """
    _reject(graph)
    state = State(graph, target_of(target), name, Program((), (), ()), tuning)
    for each in PASSES:
        try:
            decided = each.run(state)
        except NotImplementedError as problem:
            raise UnsupportedGraph(f"{each.name}: {problem}") from problem
        state = replace(state, **decided)
        for what in decided.values():
            if trace:
                trace(each.name, what)
        check(each.name, each.left(state))
    return state.source


def _reject(graph: Graph) -> None:
    """Say everything that stands in the way, at once."""
    missing = set(uncovered(graph))
    found = [
        f"no lowering rule for {node.op} ({node.name}, {node.source or 'source not known'})"
        for node in graph.nodes
        if node.op in missing
    ]
    dtypes = [
        f"input {spec.name} is {spec.dtype}; kernels read {', '.join(DTYPES)}"
        for spec in graph.inputs
        if ON_DEVICE.get(spec.dtype, spec.dtype) not in DTYPES
    ]
    if found or dtypes:
        hint = ["'nkiport.lowering.rules' lists what is covered"] if found else []
        raise UnsupportedGraph("; ".join([*found, *dtypes, *hint]))
