"""What an engine returns. Arrays are NumPy's; the type is left open so that messages stay light."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nkiport.contracts.judgement import Check

Array = Any


@dataclass(frozen=True)
class Runs:
    """What running a candidate gave: one list of arrays for each trial that ran."""

    outputs: Sequence[Sequence[Array]]
    check: Check
    """Passed, or failed with findings (crash, time-out, memory, undefined reads)."""
    seconds: float = 0.0


@dataclass(frozen=True)
class Profile:
    """What profiling gave. Times are microseconds; None where nothing was measured."""

    check: Check
    p50_us: float | None = None
    p99_us: float | None = None
    low_us: float | None = None
    """Lower end of the estimate's interval, or of the measurement's noise."""
    high_us: float | None = None
    floor_us: float | None = None
    """The roofline floor of the work the engine saw."""
    bound_by: str = ""
    """What binds: an engine's name, or ``dma``."""
    utilisation: Mapping[str, float] = field(default_factory=dict)
    """Busy share of each engine, 0 to 1."""
    instructions: Mapping[str, int] = field(default_factory=dict)
    """How many instructions of each class ran (``compute``, ``matmul``, ``dma``, ``move``)."""
    bytes_read: int = 0
    bytes_written: int = 0
    inputs_read: Sequence[str] = ()
    samples: int = 0
