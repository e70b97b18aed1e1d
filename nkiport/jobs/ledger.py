"""The bill of a job: each call reserved before it is made and settled after, once."""

from nkiport.contracts import keys
from nkiport.contracts.base import BackendName, JobId
from nkiport.contracts.errors import Conflict, NotFound, SpendCapReached, StoreBusy
from nkiport.contracts.jobs import Attempt, LedgerEntry
from nkiport.generation import Usage
from nkiport.jobs.ports import Artifacts, Clock, Records


def entries(records: Records, job_id: JobId, kernel_id: str | None = None) -> list[LedgerEntry]:
    """Every call of a job, or of one of its kernels."""
    prefix = f"LEDGER#{kernel_id}#" if kernel_id else "LEDGER#"
    return records.query(LedgerEntry, f"JOB#{job_id}", prefix)


def spent(records: Records, job_id: JobId) -> float:
    """Dollars settled, plus those set aside for calls under way."""
    return sum(e.reserved_usd if e.usd is None else e.usd for e in entries(records, job_id))


class AttemptMeter:
    """Meters the one call of one attempt: a step that runs twice finds the first one's entry."""

    def __init__(
        self,
        attempt: Attempt,
        *,
        cap_usd: float,
        records: Records,
        artifacts: Artifacts,
        clock: Clock,
    ) -> None:
        self._attempt = attempt
        self._cap = cap_usd
        self._records = records
        self._artifacts = artifacts
        self._clock = clock
        self._transcript = keys.transcript(attempt.job_id, attempt.kernel_id, attempt.attempt)

    def reserve(self, model: str, usd: float) -> None:
        """Enter the call; take it back if the job's sum then passes the cap.

        Entering first and adding up after means that two kernels at once cannot both slip under.
        """
        entry = self._entry()
        if entry is None:
            self._records.add(_entry(self._attempt, model, usd, self._clock))
        elif entry.usd is not None:
            self._replace(entry.model_copy(update={"usd": None, "reserved_usd": usd}))
        total = spent(self._records, self._attempt.job_id)
        if total > self._cap:
            self._settle(Usage(0.0, 0, 0, 0.0))
            raise SpendCapReached(
                f"the next call may cost {usd:.4f} USD and would bring the job to {total:.4f}; "
                f"its cap is {self._cap:.2f} USD: raise spend_cap_usd at the requirements gate"
            )

    def recall(self) -> str | None:
        """The transcript of this attempt's call, if there was one."""
        try:
            return self._artifacts.get(self._transcript).decode()
        except NotFound:
            return None

    def settle(self, transcript: str, usage: Usage) -> None:
        """Keep the transcript first: whoever finds it makes no second call."""
        self._artifacts.put_new(self._transcript, transcript.encode())
        self._settle(usage)

    def _entry(self) -> LedgerEntry | None:
        at = self._attempt
        sort = f"LEDGER#{at.kernel_id}#{call_id(at.backend, at.attempt)}"
        return self._records.get(LedgerEntry, at.partition(), sort)

    def _settle(self, usage: Usage) -> None:
        entry = self._entry()
        if entry is not None and entry.usd is None:
            self._replace(
                entry.model_copy(
                    update={
                        "usd": usage.usd,
                        "input_tokens": usage.input_tokens,
                        "output_tokens": usage.output_tokens,
                        "seconds": usage.seconds,
                    }
                )
            )

    def _replace(self, entry: LedgerEntry) -> None:
        try:
            self._records.replace(entry)
        except Conflict as lost:
            raise StoreBusy(f"the bill of {entry.call_id} changed meanwhile") from lost


def call_id(backend: BackendName, attempt: int) -> str:
    """The name of an attempt's call: one backend, one attempt, one call."""
    return f"{attempt:04d}-{backend}"


def _entry(attempt: Attempt, model: str, usd: float, clock: Clock) -> LedgerEntry:
    return LedgerEntry(
        job_id=attempt.job_id,
        kernel_id=attempt.kernel_id,
        call_id=call_id(attempt.backend, attempt.attempt),
        backend=attempt.backend,
        model=model,
        reserved_usd=usd,
        at=clock.now(),
    )
