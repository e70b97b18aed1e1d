"""One operand of a product: which axes of its tensor hold K and the other size."""

from collections.abc import Mapping
from dataclasses import dataclass

from nkiport.lowering.fusion import Access
from nkiport.lowering.kernel import axes, times


@dataclass(frozen=True)
class Side:
    """One operand of the product: its tensor, and which axes hold K and the other size."""

    name: str
    access: Access
    other: str
    """The name of the size that is not K: rows or cols."""
    dtype: str
    shape: tuple[int, ...]
    plain: bool
    """Whether the tensor has the axes of the product, so that it needs no addresses."""

    @property
    def turned(self) -> bool:
        """Whether K runs along memory, so that tiles must be turned to have it on partitions."""
        order = axes(self.access.strides)
        depth = len(self.access.strides) - (1 if self.other == "rows" else 2)
        return order[-1] == depth

    def index(self, other: str, depth: str) -> str:
        """The index of a tile, in the tensor's own order."""
        last = len(self.access.strides) - 1
        names = (
            {last - 1: other, last: depth}
            if self.other == "rows"
            else {last - 1: depth, last: other}
        )
        if not self.plain:
            return self._address(names)
        order = axes(self.access.strides)
        batch = ["0" if step == 0 else f"o{at}" for at, step in enumerate(self.access.strides)]
        return ", ".join(names.get(axis, batch[axis]) for axis in order)

    def _address(self, names: Mapping[int, str]) -> str:
        """Where a tile lies in memory, by the strides of the operand."""
        terms = [f"{self.access.offset}"] if self.access.offset else []
        for axis, step in enumerate(self.access.strides):
            name = names.get(axis, f"o{axis}")
            if axis in names and not step:
                terms.append(f"({name}) * 0" if step == 0 else name)
            elif step:
                terms.append(name if step == 1 else times(f"({name})", step))
        return " + ".join(terms)

    def size(self, what: str) -> str:
        """Where the kernel reads a size: ``k`` or the other one."""
        last = len(self.access.strides) - 1
        wanted = last if (what == "k") == (self.other == "rows") else last - 1
        if not self.plain:
            return str(self.shape[wanted])
        return f"{self.name}.shape[{axes(self.access.strides).index(wanted)}]"
