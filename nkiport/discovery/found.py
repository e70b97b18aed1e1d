"""What a reader hands to the walk."""

from dataclasses import asdict, dataclass
from typing import Any

from nkiport.contracts.discovery import KernelKind

MOST_SNIPPET = 1500


class Skip(Exception):
    """The file is not read, for the reason given."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A kernel before it has an id."""

    name: str
    kind: KernelKind
    file: str
    line: int
    end_line: int
    signature: str
    why: str
    missing: tuple[str, ...] = ()
    launches: tuple[str, ...] = ()
    launcher: str | None = None
    proposed_reference: str | None = None
    rank: float = 0.0
    snippet: str = ""

    def fields(self) -> dict[str, Any]:
        """Fit for ``FoundKernel``."""
        return {**asdict(self), "snippet": self.snippet[:MOST_SNIPPET]}
