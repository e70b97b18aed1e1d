"""Affine index expressions, masks, and the views of memory they select.

An ``Index`` is offset + sum of step * position over broadcast axes. It is never expanded into an
array unless a mask is not rectangular: indexing a tile with it is arithmetic on strides.
"""

import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from nkiport.nki.dtypes import Array
from nkiport.simulator.errors import RuleBroken, broken


class Term(NamedTuple):
    """One axis of an index expression; ``axis`` counts from the right, -1 being the last."""

    axis: int
    size: int
    step: int


Axes = frozenset[tuple[int, int]]
"""Axes, counted from the right, with their sizes."""


class Index:
    """offset + sum of step * position, of broadcast rank ``ndim``.

    ``grid`` has each axis of the ``nl.mgrid`` it is of, with its size: those that none of a tile's
    indices runs along may be no dimensions of the tile.
    """

    __slots__ = ("__dict__", "grid", "ndim", "offset", "terms")
    __hash__ = object.__hash__

    def __init__(
        self, ndim: int, offset: int, terms: tuple[Term, ...], grid: Axes = frozenset()
    ) -> None:
        self.ndim = ndim
        self.offset = offset
        self.terms = terms
        self.grid = grid

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The broadcast shape."""
        sizes = [1] * self.ndim
        for term in self.terms:
            sizes[term.axis] = term.size
        return tuple(sizes)

    @property
    def low(self) -> int:
        """The smallest value."""
        return self.offset + sum(min(0, t.step * (t.size - 1)) for t in self.terms)

    @property
    def high(self) -> int:
        """The largest value."""
        return self.offset + sum(max(0, t.step * (t.size - 1)) for t in self.terms)

    def values(self) -> Array:
        """Return every value, as int64 of the broadcast shape."""
        result = np.full(self.shape, self.offset, np.int64)
        for term in self.terms:
            steps = term.step * np.arange(term.size)
            result += steps.reshape(term.size, *(1,) * (-term.axis - 1))
        return result

    def without(self, dropped: frozenset[int]) -> "Index":
        """The same index without axes that it does not run along."""
        if not dropped:
            return self
        terms = tuple(t._replace(axis=_behind(t.axis, dropped)) for t in self.terms
                      if t.axis not in dropped)  # fmt: skip
        ndim = self.ndim - sum(1 for axis in dropped if -axis <= self.ndim)
        kept = ((axis, size) for axis, size in self.grid if axis not in dropped)
        grid = frozenset((_behind(axis, dropped), size) for axis, size in kept)
        return Index(ndim, self.offset, terms, grid)

    def __getitem__(self, key: Any) -> "Index":
        keys = key if isinstance(key, tuple) else (key,)
        ndim = sum(1 for k in keys if k is None) + self.ndim
        moved: dict[int, int] = {}
        source = 0
        for position, each in enumerate(keys):
            if each is None:
                continue
            if each != slice(None):
                raise broken(
                    "err_unsupported_index", f"an index expression indexed by {each!r}",
                    "only None and ':'", "add axes with None, as in nl.arange(n)[:, None]",
                )  # fmt: skip
            moved[source - self.ndim] = position - ndim
            source += 1
        terms = tuple(t._replace(axis=moved.get(t.axis, t.axis)) for t in self.terms)
        grid = frozenset((moved.get(axis, axis), size) for axis, size in self.grid)
        return Index(ndim, self.offset, terms, grid)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise broken(
            "err_cannot_assign_to_index", "an assignment into an index expression",
            "index expressions do not change", "make data of it with nisa.iota",
        )  # fmt: skip

    def __add__(self, other: Any) -> "Index":
        if isinstance(other, int | np.integer):
            return Index(self.ndim, self.offset + int(other), self.terms, self.grid)
        if not isinstance(other, Index):
            return NotImplemented
        terms = {t.axis: t for t in self.terms}
        for t in other.terms:
            terms[t.axis] = _joined(terms[t.axis], t) if t.axis in terms else t
        ordered = tuple(terms[axis] for axis in sorted(terms))
        ndim = max(self.ndim, other.ndim)
        return Index(ndim, self.offset + other.offset, ordered, common_grid((self, other)))

    __radd__ = __add__

    def __mul__(self, other: Any) -> "Index":
        if isinstance(other, Index):
            raise _not_affine("a product of two index expressions")
        if not isinstance(other, int | np.integer):
            return NotImplemented
        terms = tuple(t._replace(step=t.step * int(other)) for t in self.terms)
        return Index(self.ndim, self.offset * int(other), terms, self.grid)

    __rmul__ = __mul__

    def __neg__(self) -> "Index":
        return self * -1

    def __sub__(self, other: Any) -> "Index":
        less: Index = self + -other
        return less

    def __rsub__(self, other: Any) -> "Index":
        more: Index = -self + other
        return more

    def __mod__(self, _other: Any) -> "Index":
        raise _not_affine("'%' on an index expression")

    def __floordiv__(self, _other: Any) -> "Index":
        raise _not_affine("'//' on an index expression")

    def __lt__(self, other: Any) -> "Mask":
        return Mask(((other - self - 1, "ge"),))

    def __le__(self, other: Any) -> "Mask":
        return Mask(((other - self, "ge"),))

    def __gt__(self, other: Any) -> "Mask":
        return Mask(((self - other - 1, "ge"),))

    def __ge__(self, other: Any) -> "Mask":
        return Mask(((self - other, "ge"),))

    def __eq__(self, other: object) -> "Mask":  # type: ignore[override]
        difference = self - other
        return Mask(((difference, "ge"), (-difference, "ge")))

    def __ne__(self, other: object) -> "Mask":  # type: ignore[override]
        return Mask(((self - other, "ne"),))

    def __bool__(self) -> bool:
        raise broken(
            "err_control_flow_condition_depending_on_arange", "a condition on an index expression",
            "conditions use loop variables, shapes and numbers", "use mask=",
        )  # fmt: skip


def _joined(a: Term, b: Term) -> Term:
    if a.size != b.size and 1 not in {a.size, b.size}:
        raise broken(
            "err_shape_mismatch", f"index expressions of {a.size} and {b.size} along one axis",
            "equal sizes", "give each nl.arange its own axis with None",
        )  # fmt: skip
    step = a.step + b.step if a.size == b.size else (a if a.size > b.size else b).step
    return Term(a.axis, max(a.size, b.size), step)


def _behind(axis: int, dropped: frozenset[int]) -> int:
    """The place of an axis, from the right, without those that are dropped."""
    return axis + sum(1 for each in dropped if each > axis)


def _turned(index: Index) -> Index:
    terms = tuple(t._replace(axis=-3 - t.axis) for t in index.terms)
    return Index(2, index.offset, tuple(sorted(terms)))


def common_grid(indices: Iterable[Index]) -> Axes:
    """The axes of an ``nl.mgrid`` that are so in all indices that have them."""
    given = [each for each in indices if each.ndim]
    every = Axes().union(*(each.grid for each in given))
    return Axes(a for a in every if all(a in i.grid or -a[0] > i.ndim for i in given))


def _not_affine(what: str) -> RuleBroken:
    return broken(
        "err_not_affine", what, "sums of constants times nl.arange, loop variables, program ids",
        "move it to a loop variable or another axis",
    )  # fmt: skip


def arange(*bounds: int) -> Index:
    """Return the index expression of a range: ``arange(stop)`` or ``arange(start, stop)``."""
    start, stop = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) > 2 else 1  # noqa: PLR2004
    size = max(0, -(-(stop - start) // step))
    return Index(1, start, (Term(-1, size, step),))


class Grid(tuple[Index, ...]):
    """What ``nl.mgrid[...]`` gives: one index per axis, also as .p, .x, .y and .z."""

    __slots__ = ()

    p = property(lambda self: self[0])
    x = property(lambda self: self[1])
    y = property(lambda self: self[2])
    z = property(lambda self: self[3])


class MGrid:
    """``nl.mgrid``."""

    def __getitem__(self, key: Any) -> Grid:
        keys = key if isinstance(key, tuple) else (key,)
        ndim = len(keys)
        axes = [arange(each.start or 0, each.stop, each.step or 1) for each in keys]
        grid = Axes((at - ndim, each.terms[0].size) for at, each in enumerate(axes))
        return Grid(
            Index(ndim, each.offset, (each.terms[0]._replace(axis=position - ndim),), grid)
            for position, each in enumerate(axes)
        )


Box = tuple[slice, ...]


class Mask:
    """Comparisons of affine expressions, all of which must hold."""

    def __init__(self, conditions: tuple[tuple[Any, str], ...]) -> None:
        self.conditions = conditions

    def __and__(self, other: Any) -> "Mask":
        if isinstance(other, Mask):
            return Mask(self.conditions + other.conditions)
        if isinstance(other, bool | np.bool_):
            return self if other else as_mask(value=False)
        raise broken(
            "err_unsupported_expression_in_mask", f"a mask joined with {type(other).__name__}",
            "comparisons of index expressions, joined by &", "use nl.where for conditions on data",
        )  # fmt: skip

    __rand__ = __and__

    def __or__(self, _other: Any) -> "Mask":
        raise broken(
            "err_unsupported_expression_in_mask", "'|' in a mask",
            "comparisons joined by &", "issue one instruction for each part",
        )  # fmt: skip

    __ror__ = __or__

    def __bool__(self) -> bool:
        raise broken(
            "err_ambiguous_tensor_truth_value", "a mask used as a truth value",
            "masks are joined by &, with parentheses", "write (a < n) & (b < m)",
        )  # fmt: skip

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The broadcast shape of the comparisons."""
        return np.broadcast_shapes(*(expr.shape for expr, _ in self.conditions))

    def of_rank(self, ndim: int) -> "Mask":
        """The same mask over a tile of so many dimensions, without axes of its grid."""
        more = max((expr.ndim for expr, _ in self.conditions), default=0) - ndim
        if more <= 0:
            return self
        used = {t.axis for expr, _ in self.conditions for t in expr.terms if t.size > 1}
        grid = {axis for axis, _ in common_grid(expr for expr, _ in self.conditions)}
        dropped = frozenset(sorted(grid - used)[:more])
        return Mask(tuple((expr.without(dropped), kind) for expr, kind in self.conditions))

    def turned(self) -> "Mask | None":
        """The same mask where the two dimensions have changed places; None if there are more."""
        if any(expr.ndim > 2 for expr, _ in self.conditions):  # noqa: PLR2004
            return None
        return Mask(tuple((_turned(expr), kind) for expr, kind in self.conditions))

    def over(self, shape: tuple[int, ...]) -> Array:
        """Return the truth value at each position of a space of ``shape``."""
        return np.broadcast_to(self.of_rank(len(shape)).values(), shape)

    def values(self) -> Array:
        """Return the truth value at each position."""
        result = np.ones((), np.bool_)
        for expr, kind in self.conditions:
            values = expr.values()
            result = result & (values >= 0 if kind == "ge" else values != 0)
        return result

    def share(self, shape: tuple[int, ...]) -> float:
        """Return the part of a space of ``shape`` where it holds, 0 to 1."""
        box = self.box(shape)
        if box is None:
            return float(self.over(shape).mean())
        held = math.prod(each.stop - each.start for each in box)
        return float(held / max(1, math.prod(shape)))

    def box(self, shape: tuple[int, ...]) -> Box | None:
        """Return the rectangle where it holds, in a space of ``shape``; None if it is not one."""
        low, high = [0] * len(shape), list(shape)
        for expr, kind in self.of_rank(len(shape)).conditions:
            terms = [t for t in expr.terms if t.size > 1 and t.step]
            if kind != "ge" or len(terms) > 1:
                return None
            if not terms:
                if expr.offset < 0:
                    high = [0] * len(shape)
                continue
            (term,) = terms
            axis = term.axis + len(shape)
            if axis < 0 or term.size != shape[axis]:
                raise broken(
                    "err_shape_mismatch", f"a mask over {term.size} positions of shape {shape}",
                    "index expressions of the instruction's shape",
                    "use the same nl.arange in the index and in the mask",
                )  # fmt: skip
            if term.step > 0:
                low[axis] = max(low[axis], -(expr.offset // term.step))
            else:
                high[axis] = min(high[axis], expr.offset // -term.step + 1)
        return tuple(slice(a, max(a, b)) for a, b in zip(low, high, strict=True))


def as_mask(value: Mask | bool) -> Mask:
    """A mask that holds everywhere or nowhere, for a truth value."""
    if isinstance(value, Mask):
        return value
    return Mask(() if value else ((Index(0, -1, ()), "ge"),))


def shrunk(index: Index, box: Box) -> Iterator[tuple[int, int]]:
    """Yield the index's lowest and highest value inside a box, or nothing if it is empty."""
    if any(each.stop <= each.start for each in box):
        return
    low = high = index.offset
    for term in index.terms:
        each = box[term.axis]
        ends = (term.step * each.start, term.step * (each.stop - 1))
        low, high = low + min(ends), high + max(ends)
    yield low, high
