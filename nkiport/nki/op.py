"""What an operation of the language is. One declaration; everything else is read from it."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from inspect import Parameter, signature
from typing import Any, Literal, NamedTuple

import numpy as np

from nkiport.nki.dtypes import AnyDType, Array
from nkiport.nki.targets import Engine, Target

Buffer = Literal["sbuf", "psum", "private_hbm", "shared_hbm"]
Namespace = Literal["nl", "nisa"]
Kind = Literal["compute", "matmul", "dma", "move"]
ResultType = Literal["promote", "first", "bool", "float32", "floating", "values"]
"""``floating``: the first operand's type if it is floating, else float32. ``values``: as ``run``
returns it."""

ON_CHIP: frozenset[Buffer] = frozenset({"sbuf", "psum"})
SBUF: frozenset[Buffer] = frozenset({"sbuf"})
PSUM: frozenset[Buffer] = frozenset({"psum"})
HBM: frozenset[Buffer] = frozenset({"private_hbm", "shared_hbm"})
ANYWHERE: frozenset[Buffer] = ON_CHIP | HBM


class Operand(NamedTuple):
    """A tile as the rules see it. Dimension 0 is the partition dimension on chip."""

    shape: tuple[int, ...]
    dtype: AnyDType
    buffer: Buffer = "sbuf"
    start: int = 0
    """The first partition."""
    partition_step: int = 1

    @property
    def partitions(self) -> int:
        """The size of the partition dimension."""
        return self.shape[0] if self.shape else 1

    @property
    def free(self) -> int:
        """How many elements each partition holds."""
        return math.prod(self.shape[1:])


class Call(NamedTuple):
    """One use of an operation: its tiles and its other arguments, by parameter."""

    operands: Mapping[str, Operand]
    attributes: Mapping[str, Any]


class Problem(NamedTuple):
    """A broken rule: a finding that does not know its line yet."""

    code: str
    asked: str
    allowed: str = ""
    fix: str = ""


class Work(NamedTuple):
    """What a cost is computed from: elements of one partition, and bytes in all."""

    free: int
    """Elements per partition of the widest operand; of the moving tile for a matmul."""
    other: int
    """Elements per partition of a matmul's stationary tile; partitions for a transpose."""
    dtype: AnyDType
    bytes: int = 0
    operands: int = 1
    all_sbuf: bool = True
    name: str = ""
    """The function an ``op`` argument names."""


Check = Callable[[Call, Target], Iterator[Problem]]
Cost = Callable[[Work, Target], float]
Place = Callable[[Call], tuple[Engine, Buffer]]
Sample = Callable[[np.random.Generator], Mapping[str, Any]]


def no_further_rule(_call: Call, _target: Target) -> Iterator[Problem]:
    """Yield nothing: the rules of every operation say it all."""
    return iter(())


@dataclass(frozen=True, kw_only=True)
class Op:
    """One operation: what it means, where it runs, what it allows and what it costs.

    ``run`` is the meaning on NumPy arrays. It gets float32 values unless ``exact``, and returns
    the result, or a tuple of the result and the new values of the parameters in ``writes``.
    """

    name: str
    namespace: Namespace
    engine: Engine
    summary: str
    run: Callable[..., Any]
    cost: Cost
    sample: Sample
    check: Check = no_further_rule
    kind: Kind = "compute"
    also: tuple[tuple[Engine, Cost], ...] = ()
    """Further engines a composite keeps busy, with their cycles."""
    memory: Mapping[str, frozenset[Buffer]] = field(default_factory=dict)
    """Where operands may be; those not named may be anywhere on chip."""
    result: Buffer | None = "sbuf"
    place: Place | None = None
    """Where it runs and puts its result, for an operation that more than one engine has."""
    unasked: Engine | None = None
    """Where the compiler runs it when no engine is asked for and only one operand is wide; None if
    that is where it always runs."""
    result_dtype: ResultType = "promote"
    exact: bool = False
    reduces: bool = False
    """Whether a mask leaves elements out of a reduction, not only out of the result."""
    keeps_shape: bool = False
    """Whether the result of such an operation has the shape of what it reduces."""
    turns: bool = False
    """Whether it moves elements to other places; a mask is in the places where they were."""
    broadcasts: bool = False
    """Whether operands may differ in their number of partitions."""
    writes: tuple[str, ...] = ()
    reads_written: bool = False
    """Whether the old values of the written parameters matter."""

    @cached_property
    def key(self) -> str:
        """The name with its namespace, for example ``nisa.nc_matmul``."""
        return f"{self.namespace}.{self.name}"

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of ``run``, in order."""
        return tuple(signature(self.run).parameters)

    @cached_property
    def required(self) -> frozenset[str]:
        """The parameters without a default."""
        given = signature(self.run).parameters.values()
        return frozenset(each.name for each in given if each.default is Parameter.empty)


class Table(dict[str, Op]):
    """The operations of one engine, by key. A second declaration of a name is refused."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine

    def add(self, op: Op) -> Op:
        """Add a declaration."""
        if op.key in self:
            raise ValueError(f"{op.key} is declared twice")
        self[op.key] = op
        return op

    def op(self, namespace: Namespace, **facts: Any) -> Callable[[Callable[..., Any]], Op]:
        """Declare the decorated function as the meaning of the operation of its name."""

        def declare(run: Callable[..., Any]) -> Op:
            summary = (run.__doc__ or "").strip().splitlines()[0]
            name = run.__name__.removesuffix("_")
            return self.add(
                Op(
                    name=name,
                    namespace=namespace,
                    engine=self.engine,
                    summary=summary,
                    run=run,
                    **facts,
                )
            )

        return declare


def operand(value: Array, buffer: Buffer = "sbuf") -> Operand:
    """Return how the rules see an array that starts at partition 0."""
    return Operand(value.shape, value.dtype, buffer)
