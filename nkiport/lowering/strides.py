"""Index arithmetic: how an operand's elements lie over an iteration space.

A pattern is a tuple of (size, stride) pieces, outermost first, in its shortest form: pieces of
size 1 are left out and pieces that continue each other are one.
"""

import math
from collections.abc import Iterable, Sequence

Piece = tuple[int, int]
Pattern = tuple[Piece, ...]


def shortest(pieces: Iterable[Piece]) -> Pattern:
    """Join the pieces that continue each other.

    >>> shortest([(4, 8), (1, 99), (8, 1)])
    ((32, 1),)
    >>> shortest([(4, 0), (8, 1)])
    ((4, 0), (8, 1))
    """
    joined: list[Piece] = []
    for size, stride in pieces:
        if size == 1:
            continue
        if joined and joined[-1][1] == stride * size:
            joined[-1] = (joined[-1][0] * size, stride)
        else:
            joined.append((size, stride))
    return tuple(joined)


def project(out: Pattern, shape: Sequence[int], strides: Sequence[int]) -> Pattern | None:
    """The pattern of an operand over the space of its consumer.

    ``out`` is the consumer's own pattern (stride 0 where its result does not vary, else the step
    through its result, which may be walked in any order), ``shape`` its result's shape, ``strides``
    the operand's along that shape. None if the sizes do not nest.

    >>> project(((32, 1),), (4, 8), (0, 1))
    ((4, 0), (8, 1))
    >>> project(((8, 1), (4, 8)), (4, 8), (0, 1))
    ((8, 1), (4, 0))
    """
    pieces: list[Piece] = []
    for size, stride in reversed(out):
        walked = [(size, 0)] if stride == 0 else _walked(size, stride, shape, strides)
        if walked is None:
            return None
        pieces += walked
    reached = math.prod(size for size, stride in out if stride)
    return shortest(reversed(pieces)) if reached == math.prod(shape) else None


def _walked(
    size: int, place: int, shape: Sequence[int], strides: Sequence[int]
) -> list[Piece] | None:
    """The operand's pieces, innermost first, for so many steps of ``place`` through the result."""
    found: list[Piece] = []
    below = 1
    for dim, step in zip(reversed(shape), reversed(strides), strict=True):
        skipped, ahead = divmod(place, below)
        if size > 1 and skipped < dim:
            take = min(dim // skipped, size) if skipped and not ahead else 0
            if not take or dim % skipped or (dim // skipped) % take or size % take:
                return None
            found.append((take, step * skipped))
            size, place = size // take, place * take
        below *= dim
    return found if size == 1 else None


def restride(
    shape: Sequence[int], strides: Sequence[int], wanted: Sequence[int]
) -> tuple[int, ...] | None:
    """Strides that read the same elements under another shape; None if data would have to move.

    >>> restride((4, 8), (8, 1), (2, 16))
    (16, 1)
    >>> restride((4, 8), (1, 4), (32,)) is None
    True
    """
    pieces = list(shortest(zip(shape, strides, strict=True)))
    found: list[int] = []
    for size in reversed(wanted):
        if size == 1:
            found.append(0)
            continue
        have, stride = pieces.pop()
        if have % size:
            return None
        found.append(stride)
        if have > size:
            pieces.append((have // size, stride * size))
    return tuple(reversed(found))


def pieces(
    shape: Sequence[int], strides: Sequence[int], sizes: Sequence[int]
) -> list[Pattern] | None:
    """The elements cut into runs of these sizes, each as pieces; None if the sizes do not nest.

    >>> pieces((2, 3, 4), (12, 0, 1), (6, 4))
    [((2, 12), (3, 0)), ((4, 1),)]
    """
    left = list(shortest(zip(shape, strides, strict=True)))
    found: list[Pattern] = []
    for size in reversed(sizes):
        part: list[Piece] = []
        rest = size
        while rest > 1:
            if not left:
                return None
            have, step = left.pop()
            take = min(have, rest)
            if have % take or rest % take:
                return None
            part.append((take, step))
            rest //= take
            if have > take:
                left.append((have // take, step * take))
        found.append(shortest(reversed(part)))
    return found[::-1]


def boundaries(pattern: Pattern) -> frozenset[int]:
    """The places where a pattern changes, counted from the innermost element.

    >>> sorted(boundaries(((4, 0), (8, 1))))
    [8, 32]
    """
    places: list[int] = []
    below = 1
    for size, _ in reversed(pattern):
        below *= size
        places.append(below)
    return frozenset(places)


def intervals(places: Iterable[int]) -> tuple[int, ...] | None:
    """Sizes between boundaries, outermost first; None if the boundaries do not nest.

    >>> intervals({8, 32})
    (4, 8)
    >>> intervals({6, 32}) is None
    True
    """
    sizes: list[int] = []
    below = 1
    for place in sorted(places):
        if place % below:
            return None
        if place > below:
            sizes.append(place // below)
        below = place
    return tuple(reversed(sizes))


def spread(pattern: Pattern, sizes: Sequence[int]) -> tuple[int, ...]:
    """The pattern's stride in each interval of a space that refines it.

    >>> spread(((32, 1),), (4, 8))
    (8, 1)
    """
    total = math.prod(sizes)
    strides = restride([size for size, _ in pattern], [step for _, step in pattern], sizes)
    if strides is None:
        raise ValueError(f"a space of {sizes} ({total} elements) does not refine {pattern}")
    return strides
