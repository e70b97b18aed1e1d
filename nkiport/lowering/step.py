"""A call of a kernel, selected but not yet written."""

from dataclasses import dataclass

from nkiport.lowering.ir import Op


@dataclass(frozen=True)
class Step:
    """One call of the kernel. ``alias`` steps cost nothing: the target is another name."""

    op: Op
    function: str
    args: tuple[str, ...]
    kwargs: tuple[tuple[str, str], ...] = ()
    before: tuple[str, ...] = ()
    """Lines that come first: tiles that the call writes besides its result."""
    into: str = ""
    """Where the result goes, if that is a place in a tile that is there already."""

    @property
    def tile(self) -> str:
        """How others write the result."""
        return self.into or self.op.name
