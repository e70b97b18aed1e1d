"""What the steps need of the world. Each port has few verbs; adapters and doubles implement them.

Every adapter has a double of the same class name under ``tests/doubles``, and both pass the same
assertions in ``tests/ports``.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

from nkiport.contracts.base import EvidenceLevel, JobId, Key, TargetName
from nkiport.contracts.capture import Capture, Precision, Reference
from nkiport.contracts.engine import Profile, Runs
from nkiport.contracts.jobs import Gate, GitSource, Job, Record
from nkiport.contracts.judgement import Check, Oracle, Seed
from nkiport.contracts.tensors import InputSpec

R = TypeVar("R", bound=Record)


class Clock(Protocol):
    """The time of day, in UTC."""

    def now(self) -> datetime: ...


class Artifacts(Protocol):
    """Named bytes: sources, captures, candidates, reports, evidence."""

    def get(self, key: Key) -> bytes:
        """Raise ``NotFound`` if there is nothing under the key."""
        ...

    def put(self, key: Key, data: bytes) -> None:
        """Write, replacing what was there."""
        ...

    def put_new(self, key: Key, data: bytes) -> bool:
        """Write only if the key is free; False if it was taken (and then nothing changes)."""
        ...

    def size(self, key: Key) -> int:
        """Bytes under the key, without reading them. Raise ``NotFound``."""
        ...

    def keys(self, prefix: str) -> list[Key]:
        """Every key with the prefix, sorted."""
        ...

    def link(self, key: Key, seconds: int) -> str:
        """An address from which a person can read the artifact for that long."""
        ...

    def upload_link(self, key: Key, size: int, seconds: int) -> str:
        """An address that takes exactly ``size`` bytes by PUT for that long."""
        ...


class Records(Protocol):
    """The table. Writes are conditional, so the same work done twice leaves one record."""

    def add(self, record: Record) -> bool:
        """Insert; False if a record with the same key is there (and then nothing changes)."""
        ...

    def get(self, kind: type[R], partition: str, sort: str) -> R | None:
        """One record, or None. Reads are consistent."""
        ...

    def replace(self, record: R) -> R:
        """Write over the stored record if its version is still ``record.version``.

        Returns the record with its new version. Raises ``Conflict`` if it changed meanwhile.
        """
        ...

    def query(self, kind: type[R], partition: str, sort_prefix: str) -> list[R]:
        """The records of a partition whose sort key has the prefix, in sort order."""
        ...

    def jobs(self, owner: str, limit: int, before: str | None = None) -> list[Job]:
        """An owner's jobs, newest first; ``before`` is the job id a page ended with."""
        ...


class TaskTokens(Protocol):
    """Callbacks into a waiting state machine. A token that is spent or unknown is ``Conflict``."""

    def succeed(self, token: str, output: Mapping[str, Any]) -> None: ...

    def fail(self, token: str, error: str, cause: str) -> None: ...

    def beat(self, token: str) -> None: ...


class Executions(Protocol):
    """The migration state machine."""

    def start(self, job_id: JobId) -> None:
        """Start the job's execution; starting it twice starts it once."""
        ...

    def stop(self, job_id: JobId, reason: str) -> None:
        """Stop it; stopping an ended or unknown one does nothing."""
        ...


class Mailer(Protocol):
    """Mail to people."""

    def send(self, to: str, subject: str, text: str, html: str) -> None: ...


class GitSources(Protocol):
    """Fetches a repository at a commit. Raises ``BadSource`` or ``SourceTooLarge``."""

    def fetch(self, source: GitSource, into: Path, max_bytes: int) -> None: ...


class Forge(Protocol):
    """A host of repositories that takes pull requests. Raises ``DeliveryFailed``."""

    def open_pull_request(
        self,
        *,
        repository: str,
        base: str,
        branch: str,
        files: Mapping[str, bytes],
        title: str,
        body: str,
        draft: bool,
    ) -> str:
        """Return its URL. Asked twice for the same branch, return the one that is open."""
        ...


class GateNotices(Protocol):
    """Tells a person that a gate waits."""

    def tell(self, job: Job, gate: Gate, link: str) -> None: ...


class Engine(Protocol):
    """Runs candidates on a target at one evidence level. The candidate is hostile.

    The functional engine simulates; the Neuron engine compiles and runs on a device. All run the
    candidate in a child process; the caller's process never imports it.
    """

    level: EvidenceLevel
    name: str
    target: TargetName

    def compile(self, source: str, inputs: Sequence[InputSpec]) -> tuple[Check, ...]:
        """Compile, or check: every finding at once."""
        ...

    def run(self, source: str, trials: Sequence[Mapping[str, Any]], scratch: Path) -> Runs:
        """Run the candidate once for each trial's inputs (arrays by name, in call order).

        The child gets poisoned output buffers and no reference. Raises ``DeviceLost`` only for
        trouble that is not the candidate's.
        """
        ...

    def profile(self, source: str, inputs: Sequence[InputSpec], scratch: Path) -> Profile:
        """Latency, measured or estimated, with what it was measured on."""
        ...


class References(Protocol):
    """Runs references. The user's code is hostile too, and runs in a child process."""

    def capture(self, reference: Reference, tree: Path) -> Capture:
        """Run and export the reference. Raises ``CaptureFailed`` with the reason."""
        ...

    def golden(
        self,
        oracle: Oracle,
        tree: Path,
        trials: Sequence[Mapping[str, Any]],
        precisions: Sequence[Precision],
    ) -> Mapping[Precision, Sequence[Sequence[Any]]]:
        """Run the reference for each trial, in each precision."""
        ...


class Inputs(Protocol):
    """Draws a trial's inputs from the secret seed."""

    def trials(self, oracle: Oracle, seed: Seed) -> Sequence[Mapping[str, Any]]: ...
