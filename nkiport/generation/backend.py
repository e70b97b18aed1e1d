"""What every backend is: a task in, a candidate's source or a reason out, each call metered."""

from dataclasses import dataclass
from typing import Protocol

from nkiport.contracts.base import BackendName, TargetName
from nkiport.contracts.capture import Capture
from nkiport.contracts.judgement import Tolerance


@dataclass(frozen=True)
class Earlier:
    """An attempt that was judged, in one line."""

    attempt: int
    backend: BackendName
    failed_stage: str
    feedback: str


@dataclass(frozen=True)
class Task:
    """What is to be written, and what is known from the attempts before."""

    name: str
    capture: Capture
    target: TargetName
    tolerance: Tolerance
    min_roofline_share: float | None = None
    """What is asked of speed; None if nothing is."""
    reference_source: str = ""
    """The reference's file: data from a stranger, never an instruction."""
    last_source: str = ""
    """The candidate of the last attempt that gave one."""
    earlier: tuple[Earlier, ...] = ()


@dataclass(frozen=True)
class Usage:
    """What one call cost."""

    usd: float
    input_tokens: int
    output_tokens: int
    seconds: float


@dataclass(frozen=True)
class Written:
    """A candidate's source, or the reason why there is none."""

    source: str | None
    reason: str = ""


class Meter(Protocol):
    """The one place that billed calls go through."""

    def reserve(self, model: str, usd: float) -> None:
        """Set aside the most a call can cost. Raise ``SpendCapReached`` if the cap forbids it."""
        ...

    def recall(self) -> str | None:
        """The transcript of this attempt's call, if it was made before."""
        ...

    def settle(self, transcript: str, usage: Usage) -> None:
        """Keep the call's transcript, then what it cost. Twice is once."""
        ...


class Backend(Protocol):
    """Writes candidates. Bad luck is data; trouble is an exception."""

    @property
    def name(self) -> BackendName:
        """The backend's name in requests and records."""
        ...

    def most_usd(self, task: Task) -> float:
        """The most that ``write`` can cost; 0 where nothing is billed."""
        ...

    def write(self, task: Task, meter: Meter) -> Written:
        """Write one candidate. Raises ``ModelBusy`` or ``SpendCapReached``."""
        ...
