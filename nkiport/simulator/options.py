"""What a simulation may spend, and how strict it is."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Options:
    """Strict by default; each strictness can be relaxed by name."""

    fresh: Literal["nan", "zeros"] = "nan"
    """What memory holds that nobody wrote."""
    max_instructions: int = 2_000_000
    max_iterations: int = 20_000_000
    """Of all loops together, so that a loop without an instruction ends too."""
    max_seconds: float = 300.0
    max_bytes: int = 4 * 2**30
    """Alive at one time, in HBM and on chip together."""
    own: bool = False
    """A file of the caller's own: its Python runs as it is, with every import there is. Otherwise
    the file is a stranger's, and gets the language and nothing else."""
    file_name: str = "candidate.py"
    """The name that findings, tracebacks and debuggers show."""
