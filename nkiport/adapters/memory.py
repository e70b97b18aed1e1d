"""Ports inside one process: for ``nkiport migrate``, ``nkiport judge`` and the tests.

They pass the same assertions as the AWS adapters (``tests/ports``).
"""

from datetime import UTC, datetime
from typing import TypeVar

from nkiport.contracts.base import Key
from nkiport.contracts.errors import Conflict, NotFound
from nkiport.contracts.jobs import Job, Record

R = TypeVar("R", bound=Record)


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """Return the time of day."""
        return datetime.now(UTC)


class Artifacts:
    """Named bytes in a dictionary."""

    def __init__(self) -> None:
        self._data: dict[Key, bytes] = {}

    def get(self, key: Key) -> bytes:
        """Read one artifact."""
        if key not in self._data:
            raise NotFound(f"no artifact '{key}'")
        return self._data[key]

    def put(self, key: Key, data: bytes) -> None:
        """Write one artifact."""
        self._data[key] = bytes(data)

    def put_new(self, key: Key, data: bytes) -> bool:
        """Write one artifact if the key is free."""
        if key in self._data:
            return False
        self.put(key, data)
        return True

    def size(self, key: Key) -> int:
        """Bytes under the key."""
        return len(self.get(key))

    def keys(self, prefix: str) -> list[Key]:
        """Every key with the prefix, sorted."""
        return sorted(key for key in self._data if key.startswith(prefix))

    def link(self, key: Key, seconds: int) -> str:
        """An address that only means something inside this process."""
        self.get(key)
        return f"memory://{key}?seconds={seconds}"

    def upload_link(self, key: Key, size: int, seconds: int) -> str:
        """An address that only means something inside this process."""
        return f"memory://{key}?bytes={size}&seconds={seconds}"


class Records:
    """The table in a dictionary; writes compare versions as DynamoDB's conditions do."""

    def __init__(self) -> None:
        self._data: dict[tuple[str, str], Record] = {}

    def add(self, record: Record) -> bool:
        """Insert if the key is free."""
        key = (record.partition(), record.sort())
        if key in self._data:
            return False
        self._data[key] = record
        return True

    def get(self, kind: type[R], partition: str, sort: str) -> R | None:
        """One record, or None."""
        record = self._data.get((partition, sort))
        return record if isinstance(record, kind) else None

    def replace(self, record: R) -> R:
        """Write if nobody wrote since the record was read."""
        key = (record.partition(), record.sort())
        stored = self._data.get(key)
        if stored is None or stored.version != record.version:
            raise Conflict(f"{key[0]} {key[1]} changed since version {record.version} was read")
        written = record.model_copy(update={"version": record.version + 1})
        self._data[key] = written
        return written

    def query(self, kind: type[R], partition: str, sort_prefix: str) -> list[R]:
        """The records of a partition with a sort prefix, in sort order."""
        matching = {
            sort: record
            for (part, sort), record in self._data.items()
            if part == partition and sort.startswith(sort_prefix) and isinstance(record, kind)
        }
        return [matching[sort] for sort in sorted(matching)]

    def jobs(self, owner: str, limit: int, before: str | None = None) -> list[Job]:
        """An owner's jobs, newest first."""
        mine = [r for r in self._data.values() if isinstance(r, Job) and r.owner == owner]
        mine.sort(key=lambda job: (job.created, job.job_id), reverse=True)
        ids = [job.job_id for job in mine]
        start = ids.index(before) + 1 if before in ids else 0
        return mine[start : start + limit]
