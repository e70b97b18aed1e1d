"""The captured graph: core-ATen nodes in topological order, as plain JSON."""

from pydantic import Field
from typing_extensions import TypeAliasType

from nkiport.contracts.base import Contract, DType
from nkiport.contracts.tensors import InputSpec


class Ref(Contract):
    """The value of an input, a node, or one output of a node with several."""

    ref: str
    index: int | None = None


class DTypeArg(Contract):
    """A dtype passed as an argument."""

    dtype: DType


Arg = TypeAliasType("Arg", "Ref | DTypeArg | bool | int | float | str | tuple[Arg, ...] | None")
"""An argument: a value of the graph, a literal, or a nested tuple of these."""


class Node(Contract):
    """One ATen call. ``op`` is the overload's full name, for example ``aten.add.Tensor``.

    ``nkiport.tensor.default`` is a constant: its argument is every element, in row-major order.
    """

    name: str
    op: str
    args: tuple[Arg, ...] = ()
    kwargs: dict[str, Arg] = {}
    shape: tuple[int, ...] = ()
    dtype: DType = "float32"
    source: str = Field(default="", description="file:line the node came from, for comments")


class Graph(Contract):
    """What a reference computes.

    ``inputs`` holds the reference's inputs in call order, then the lifted weights; ``outputs``
    holds what ``forward`` returns, in order.
    """

    inputs: tuple[InputSpec, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Ref, ...]
