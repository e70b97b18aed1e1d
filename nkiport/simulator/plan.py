"""What is the same for every use of an operation on operands of the same kind: its plan."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from nkiport.nki import Op, Work
from nkiport.nki.dtypes import (
    BOOL,
    FLOAT32,
    UINT8,
    AnyDType,
    is_float,
    promote,
    scalar_dtype,
)
from nkiport.nki.op import Buffer
from nkiport.nki.targets import Engine
from nkiport.simulator.memory import Tile
from nkiport.simulator.work import call_of, is_exact, plain, work_of

TRUTH_OPERANDS = frozenset({"condition", "predicate", "pred", "reduce_res", "dst", "bias", "scale"})
"""Operands that do not decide a result's type."""


WHOLE = (str, int, tuple, type, np.dtype)
"""Types of arguments that a plan depends on as they are."""


class Plan(NamedTuple):
    """What of one use of an operation does not depend on any value: found once, then looked up."""

    exact: bool
    """Whether the operands' values keep their type."""
    kind: AnyDType
    """The type of the result, unless one is asked for."""
    place: Buffer
    """Where the result is."""
    engine: Engine
    work: Work
    partitions: int


def signature(
    op: Op, tiles: Mapping[str, Tile], others: Mapping[str, Any], values: Mapping[str, Any]
) -> tuple[Any, ...]:
    """All that a plan, and whether the rules allow it, depends on.

    ``values`` are the other arguments as ``run`` takes them.
    """
    return (
        op.key,
        *[(name, tile.operand()) for name, tile in tiles.items()],
        *[(name, _sign(each, values[name])) for name, each in others.items()],
    )


def _sign(value: Any, taken: Any) -> Any:
    """Of fractions and arrays the type and shape; names, whole numbers, axes as they are."""
    if isinstance(value, WHOLE):
        return type(value), value
    if type(value) is float:
        return float
    return type(value), getattr(taken, "shape", None), getattr(value, "dtype", None)


def planned(op: Op, tiles: Mapping[str, Tile], others: Mapping[str, Any], main: Any) -> Plan:
    """The plan of an operation that gave ``main``."""
    work, partitions = work_of(op, tiles, others, main)
    engine, place = _engine(op, others, work), op.result
    if op.place:
        engine, place = op.place(call_of(tiles, others))
    found = np.asarray(main).dtype
    kind = found if main is None else _kind(op, tiles, others, found)
    return Plan(is_exact(op, others), kind, place or "sbuf", engine, work, partitions)


def _engine(op: Op, others: Mapping[str, Any], work: Work) -> Engine:
    """Where an instruction runs: where it is asked to, or as usual."""
    asked: Engine | None = plain(others.get("engine"))
    if asked in {"vector", "scalar", "gpsimd"}:
        return asked
    return op.unasked if op.unasked and work.operands == 1 else op.engine


def _kind(
    op: Op, tiles: Mapping[str, Tile], others: Mapping[str, Any], found: AnyDType
) -> AnyDType:
    """The type of the result; ``found`` is what ``run`` gave it."""
    fixed = {"bool": BOOL, "float32": FLOAT32, "values": found}
    if op.result_dtype in fixed:
        return fixed[op.result_dtype]
    kinds = [t.dtype for name, t in tiles.items() if name not in TRUTH_OPERANDS]
    if not kinds:
        return found
    if op.result_dtype == "first":
        return kinds[0]
    if op.result_dtype == "floating":
        return kinds[0] if is_float(kinds[0]) else FLOAT32
    if op.namespace == "nl":
        scalars = (each for n, each in others.items() if n in {"x", "y"})
        kinds += [scalar_dtype(each) for each in scalars]
    result = kinds[0]
    for each in kinds[1:]:
        result = promote(result, each)
    return UINT8 if result == BOOL else result
