"""Python's ``range`` in a candidate: walking it is a loop of the kernel."""

from collections.abc import Callable, Iterator
from typing import Any


class Range:
    """A range whose iterations are counted, and known as those of a loop; else as Python's."""

    def __init__(self, loop: Callable[..., Iterator[int]], *bounds: Any) -> None:
        self._loop = loop
        self._bounds = bounds

    @property
    def _plain(self) -> range:
        return range(*self._bounds)

    def __iter__(self) -> Iterator[int]:
        return self._loop(*self._bounds)

    def __reversed__(self) -> Iterator[int]:
        return iter(self[::-1])

    def __len__(self) -> int:
        return len(self._plain)

    def __contains__(self, value: object) -> bool:
        return value in self._plain

    def __getitem__(self, key: Any) -> Any:
        found = self._plain[key]
        if isinstance(found, range):
            return Range(self._loop, found.start, found.stop, found.step)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)
