"""How a reference is run, and what capturing it gave."""

from typing import Literal

from pydantic import Field

from nkiport.contracts.base import Contract, Sha256
from nkiport.contracts.graph import Graph
from nkiport.contracts.tensors import InputSpec, TensorSpec

Scalar = bool | int | float | str
Precision = Literal["working", "float64"]
"""In which a reference is run: the one it is used in, and the one that says what is right."""


class ArgumentRole(Contract):
    """What one argument of a bare Triton kernel is: a tensor or a scalar."""

    name: str
    role: Literal["input", "output", "scalar"]
    like: InputSpec | None = Field(default=None, description="an output's shape and dtype")
    value: Scalar | None = Field(
        default=None,
        description="a scalar, or an expression over inputs such as 'x.shape[1]' or 'x.stride(0)'",
    )


class Reference(Contract):
    """How the reference is run; the gate seals it.

    ``module`` is a ``torch.nn.Module`` class with ``get_inputs()``/``get_init_inputs()`` beside it
    or ``inputs`` here; ``function`` is a callable on tensors (a plain function, or the host
    function that launches a Triton or CUDA kernel); ``triton_grid`` is a bare ``@triton.jit``
    kernel with a grid and the roles of its arguments.
    """

    kind: Literal["module", "function", "triton_grid"]
    file: str
    symbol: str
    inputs: tuple[InputSpec, ...] = ()
    init: tuple[Scalar, ...] = ()
    training: bool = Field(
        default=False,
        description="judge a module as it trains: batch norm by the statistics of its batch",
    )
    grid: tuple[int | str, ...] = Field(
        default=(), description="integers, or expressions such as 'x.shape[0]'"
    )
    roles: tuple[ArgumentRole, ...] = ()


class Capture(Contract):
    """A reference that ran: its specification, and its graph where one could be made."""

    reference: Reference
    source_sha256: Sha256
    inputs: tuple[InputSpec, ...] = Field(description="call order, then the lifted weights")
    outputs: tuple[TensorSpec, ...]
    graph: Graph | None = None
    no_graph_because: str = ""
    float64_golden: bool = Field(
        default=True, description="whether the reference also runs in float64"
    )
    flops: float = Field(default=0, description="arithmetic of one call, from the graph")
    bytes_moved: float = Field(default=0, description="inputs read plus outputs written, once")
    notes: tuple[str, ...] = ()
