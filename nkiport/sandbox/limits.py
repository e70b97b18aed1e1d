"""What a child may spend, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["done", "timeout", "memory", "output_too_large", "crash", "no_result"]
"""``no_result``: the child ended well but its result is missing or unreadable."""

MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of one child. Seconds and bytes."""

    wall_seconds: float = 120
    cpu_seconds: int = 120
    memory_bytes: int = 6 * 1024 * MIB
    """Address space, because the kernel enforces no limit on resident memory."""
    processes: int = 64
    """Processes and threads of the child's user."""
    file_bytes: int = 4096 * MIB
    """The size of any one file; a reference's outputs of all trials are one."""
    scratch_bytes: int = 8192 * MIB
    """All files in the scratch folder together, looked at twice a second."""
    result_bytes: int = 8 * MIB
    text_bytes: int = 64 * 1024
    """How much of stdout and of stderr is kept."""


@dataclass(frozen=True)
class ChildResult:
    """What became of a child. ``stdout`` and ``stderr`` are for people and decide nothing."""

    outcome: Outcome
    result: Mapping[str, Any] | None = None
    """What the module's ``main`` returned; only with ``done``."""
    detail: str = ""
    """A sentence for anything but ``done``."""
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0
    isolation: tuple[str, ...] = field(default=())
    """The walls that were up, in the words of ``nkiport.sandbox.walls``."""
