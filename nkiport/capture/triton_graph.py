"""Read a Triton kernel's text beside one recorded launch, as the graph it computes.

Only shapes of kernel that are common: one row per program, or one flat block per program. What is
read is then run, and trusted only if it gives what Triton's own interpreter gave.
"""

import ast
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from nkiport.capture.callables import Runnable
from nkiport.capture.triton_read import Launch, Reading
from nkiport.contracts.errors import CaptureFailed
from nkiport.contracts.graph import Graph, Node, Ref
from nkiport.contracts.tensors import InputSpec

CLOSE = {"rtol": 1e-3, "atol": 1e-4}


@dataclass
class Recorder:
    """Stands for a kernel in its module while a launch is watched; the kernel still runs."""

    kernel: Any
    launches: list[Launch]

    def __getitem__(self, grid: Any) -> Any:
        def launched(*arguments: Any, **keywords: Any) -> Any:
            names = list(inspect.signature(self.kernel.fn).parameters)
            bound = {**dict(zip(names, arguments, strict=False)), **keywords}
            programs = grid(bound) if callable(grid) else grid
            self.launches.append(Launch(self.kernel.fn, tuple(programs), bound))
            return self.kernel[grid](*arguments, **keywords)

        return launched


def graph_of_launch(run: Runnable, inputs: tuple[InputSpec, ...]) -> Graph:
    """The graph of a function that launches one Triton kernel. Raises ``CaptureFailed``."""
    launches, tensors, outputs = _watched(run)
    if len(launches) != 1:
        raise CaptureFailed(f"{len(launches)} Triton launches; a graph is made of exactly one")
    names = {tensor.data_ptr(): spec.name for tensor, spec in zip(tensors, inputs, strict=True)}
    reading = Reading(launches[0], names)
    for statement in _body(launches[0].function):
        reading.statement(statement)
    graph = reading.graph(inputs, outputs)
    _trust(graph, dict(zip([spec.name for spec in inputs], tensors, strict=True)), outputs)
    return graph


def _watched(run: Runnable) -> tuple[list[Launch], list[Any], list[Any]]:
    launches: list[Launch] = []
    for name, value in list(vars(run.module).items()):
        if type(value).__name__ in {"InterpretedFunction", "JITFunction"}:
            setattr(run.module, name, Recorder(value, launches))
    tensors = [each for each in run.arguments if isinstance(each, torch.Tensor)]
    if not all(each.is_contiguous() for each in tensors):
        raise CaptureFailed("an input is not contiguous")
    return launches, tensors, run(tensors, {})


def _body(function: Any) -> list[ast.stmt]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    (definition,) = tree.body
    if not isinstance(definition, ast.FunctionDef):
        raise CaptureFailed("the kernel is no plain function")
    return definition.body


def _trust(graph: Graph, inputs: Mapping[str, Any], outputs: list[Any]) -> None:
    """Run the graph and compare: a misreading is found here, not at the judge."""
    known: dict[str, Any] = dict(inputs)
    for node in graph.nodes:
        known[node.name] = _called(node, known)
    for place, (ref, wanted) in enumerate(zip(graph.outputs, outputs, strict=True)):
        if not torch.allclose(known[ref.ref], wanted, equal_nan=True, **CLOSE):
            raise CaptureFailed(
                f"what was read of the Triton kernel does not give its output {place}; "
                "give a PyTorch reference in the job"
            )


def _called(node: Node, known: Mapping[str, Any]) -> Any:
    namespace, name, overload = node.op.split(".")
    operator = getattr(getattr(getattr(torch.ops, namespace), name), overload)
    return operator(*[_value(each, known) for each in node.args])


def _value(argument: Any, known: Mapping[str, Any]) -> Any:
    if isinstance(argument, Ref):
        return known[argument.ref]
    return list(argument) if isinstance(argument, tuple) else argument
