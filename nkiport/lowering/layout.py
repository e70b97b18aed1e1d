"""Values that only products read are stored with their columns first, as those products need them.

A product reads its left operand with K on the partitions. Where a linear layer makes that operand,
its operands may change places: the layer then makes the value turned, which costs nothing, and the
product after it has nothing to turn.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from nkiport.lowering.ir import Dim, Input, Op, Program, Use, size_of, whole
from nkiport.lowering.rules import ELEMENTWISE

FEWEST = 128
"""Rows from which on a turned value is loaded in runs of 512 bytes."""


def laid_out(program: Program) -> Program:
    """The program with such values turned."""
    for op in program.ops:
        if _reads_turned(program, op):
            found = _Values(program, {}).reached(op.uses[0].value)
            if found:
                program = _turned(program, found)
    return program


def _linear(program: Program, op: Op) -> bool:
    """Whether it is a product of two matrices of which the right one is given."""
    if op.kind != "matmul" or len(op.shape) != 2:  # noqa: PLR2004
        return False
    return isinstance(program.stored(op.uses[1].value), Input)


def _reads_turned(program: Program, op: Op) -> bool:
    """Whether a product could read its left operand turned as well."""
    return _linear(program, op) and op.uses[0].dense and op.shape[0] >= FEWEST


@dataclass(frozen=True)
class _Values:
    """Values of one shape that depend on each other's layout."""

    program: Program
    found: dict[str, Op]

    def reached(self, value: str) -> dict[str, Op]:
        """All that must be turned with a value; nothing if something stands against it."""
        waiting = [value]
        while waiting:
            name = waiting.pop()
            if name in self.found:
                continue
            op = self.program.stored(name)
            if isinstance(op, Input) or not self._turns(op) or not self._suits(op, value):
                return {}
            self.found[name] = op
            waiting += [*self._made_of(op), *self._readers(op)]
        return self.found

    def _turns(self, op: Op) -> bool:
        if op.kind == "matmul":
            return _linear(self.program, op)
        return op.kind in ELEMENTWISE and all(use.dense or _narrow(use) for use in op.uses)

    def _suits(self, op: Op, value: str) -> bool:
        """Whether it has the size of the value, and every reader of it can read it turned."""
        other = self.program.dims_of(value)
        if op.dims[-1] != other[-1] or math.prod(op.shape) != math.prod(map(size_of, other)):
            return False
        if any(use.value == op.name for use in self.program.outputs):
            return False
        readers = list(self._all_readers(op))
        return all(
            _reads_turned(self.program, reader) if reader.kind == "matmul" else self._turns(reader)
            for reader in readers
        ) and all(use.dense for each in readers for use in each.uses if use.value == op.name)

    def _made_of(self, op: Op) -> Iterator[str]:
        """The values of its size that it reads; one that a narrow use repeats stays as it is."""
        if op.kind != "matmul":
            yield from (use.value for use in op.uses if not _narrow(use))

    def _readers(self, op: Op) -> Iterator[str]:
        return (each.name for each in self._all_readers(op) if each.kind != "matmul")

    def _all_readers(self, op: Op) -> Iterator[Op]:
        return (r for r in self.program.ops if any(use.value == op.name for use in r.uses))


def _narrow(use: Use) -> bool:
    """Whether it repeats along the columns, or for every row."""
    return math.prod(use.shape) > 1 and (use.strides[-1] == 0 or not any(use.strides[:-1]))


def _turned(program: Program, values: dict[str, Op]) -> Program:
    return replace(program, ops=tuple(_op(op, values) for op in program.ops))


def _op(op: Op, values: dict[str, Op]) -> Op:
    """The operation, where it makes or reads a turned value."""
    if op.name in values and op.kind == "matmul":
        left, right = map(_across, op.uses)
        return replace(op, args=(right, left), dims=op.dims[::-1])
    if op.name in values:
        args = tuple(
            arg if not isinstance(arg, Use)
            else whole(arg.value, _first(arg.dims)) if arg.value in values
            else replace(arg, dims=_first(arg.dims), strides=(arg.strides[-1], *arg.strides[:-1]))
            for arg in op.args
        )  # fmt: skip
        return replace(op, args=args, dims=_first(op.dims))
    if any(use.value in values for use in op.uses):
        left, right = op.uses
        return replace(op, args=(_across(whole(left.value, left.dims[::-1])), right))
    return op


def _across(use: Use) -> Use:
    """The same matrix with rows for columns."""
    return replace(use, dims=use.dims[::-1], strides=use.strides[::-1])


def _first(dims: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """The dimensions with the last one first."""
    return dims[-1], *dims[:-1]
