"""The groups while they grow: who makes a value, and which group reads from which."""

from collections.abc import Sequence

from nkiport.lowering.ir import Op


class Parts:
    """Operations in groups, which keep the order in which their last operation came."""

    def __init__(self) -> None:
        self._parts: dict[int, tuple[Op, ...]] = {}
        self._maker: dict[str, int] = {}
        self._readers: dict[int, set[int]] = {}

    def __getitem__(self, part: int) -> tuple[Op, ...]:
        return self._parts[part]

    def all(self) -> list[tuple[Op, ...]]:
        """Every group, in an order that can be run."""
        return [self._parts[part] for part in sorted(self._parts)]

    def choices(self, op: Op) -> list[list[int]]:
        """Which groups an operation may join, the most fused first.

        A group moves up to a later one unless something between them reads from it.
        """
        home = sorted({self._maker[use.value] for use in op.uses if use.value in self._maker})
        if not home:
            return []
        last = home[-1]
        movable = [i for i in home if not any(i < r < last for r in self._readers[i])]
        return [movable, [last]] if len(movable) > 1 else [[last]]

    def add(self, op: Op) -> None:
        """A group of its own."""
        self._hold(max(self._parts, default=-1) + 1, (op,))

    def join(self, chosen: Sequence[int], ops: tuple[Op, ...]) -> None:
        """The last of the chosen groups becomes these operations, the others are no more."""
        *gone, last = chosen
        for part in gone:
            del self._parts[part]
            self._readers[last] |= self._readers.pop(part)
        for readers in self._readers.values():
            if readers & set(gone):
                readers -= set(gone)
                readers.add(last)
        self._hold(last, ops)

    def _hold(self, part: int, ops: tuple[Op, ...]) -> None:
        self._parts[part] = ops
        self._readers.setdefault(part, set())
        self._maker |= {op.name: part for op in ops}
        for use in (use for op in ops for use in op.uses):
            maker = self._maker.get(use.value, part)
            if maker != part:
                self._readers[maker].add(part)
