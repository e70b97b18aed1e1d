"""Plan: decide a kernel's next attempt, or stop with a reason a person can act on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from nkiport.contracts import keys
from nkiport.contracts.base import BackendName
from nkiport.contracts.capture import Capture
from nkiport.contracts.errors import Conflict, NotFound, StoreBusy
from nkiport.contracts.jobs import ENDED, Attempt, Job, Kernel
from nkiport.contracts.judgement import Requirements
from nkiport.contracts.steps import PlanRequest, PlanResult
from nkiport.generation import Backend, Choice, Situation, route
from nkiport.jobs.generate import attempts_of, oracle_of, task_of
from nkiport.jobs.ledger import spent
from nkiport.jobs.ports import Artifacts, Clock, Records
from nkiport.lowering import uncovered
from nkiport.skills import lookup

COMPILING = frozenset({"policy", "compile"})
VERIFYING = frozenset({"numbers", "plausibility"})


@dataclass(frozen=True)
class _Loop:
    """Everything the decision is made on."""

    job: Job
    kernel: Kernel
    attempts: list[Attempt]
    limits: Requirements
    now: datetime


def plan(
    request: PlanRequest,
    *,
    records: Records,
    artifacts: Artifacts,
    clock: Clock,
    backends: Mapping[BackendName, Backend],
) -> PlanResult:
    """Plan the next attempt and record it, or stop. An attempt under way is planned again as is.

    Raises ``NotFound`` for a kernel that no gate let through.
    """
    loop = _read(request, records, artifacts, clock)
    under_way = next((a for a in loop.attempts if a.status != "judged" or a.accepted), None)
    if under_way:
        _begin(loop.kernel, under_way, records, clock)
        return _go(under_way)
    choice = route(_situation(loop, artifacts, frozenset(backends)))
    stop = exhausted(loop.job, loop.kernel, loop.attempts, loop.limits, loop.now)
    stop = stop or _repeated(loop.attempts, choice) or _nobody(choice)
    stop = stop or _too_dear(loop, backends, choice, records, artifacts)
    if stop or choice.backend is None:
        return _result(request, len(loop.attempts), action="stop", reason=stop)
    return _go(_record(loop, choice.backend, choice, records, clock))


def exhausted(
    job: Job, kernel: Kernel, attempts: list[Attempt], limits: Requirements, now: datetime
) -> str:
    """The first limit that is reached, as a sentence; empty if none is."""
    compiles = _count(attempts, COMPILING)
    verifications = _count(attempts, VERIFYING)
    since = kernel.started or now
    reached = {
        f"the job has ended as '{job.status}'": job.status in ENDED,
        f"the job's deadline, {job.deadline:%Y-%m-%d %H:%M} UTC, has passed": now >= job.deadline,
        f"{limits.max_minutes} minutes are over": now - since
        >= timedelta(minutes=limits.max_minutes),
        f"{len(attempts)} of {limits.max_turns} turns are used": len(attempts) >= limits.max_turns,
        f"{compiles} attempts did not compile; at most {limits.max_failed_compiles} may": compiles
        >= limits.max_failed_compiles,
        f"{verifications} attempts gave wrong numbers; at most "
        f"{limits.max_failed_verifications} may": verifications >= limits.max_failed_verifications,
    }
    return next((sentence for sentence, is_so in reached.items() if is_so), "")


def _read(request: PlanRequest, records: Records, artifacts: Artifacts, clock: Clock) -> _Loop:
    partition = f"JOB#{request.job_id}"
    job = records.get(Job, partition, "JOB")
    kernel = records.get(Kernel, partition, f"KERNEL#{request.kernel_id}")
    if job is None or kernel is None:
        raise NotFound(f"job '{request.job_id}' has no kernel '{request.kernel_id}'")
    attempts = attempts_of(request.job_id, request.kernel_id, records)
    limits = oracle_of(request.job_id, request.kernel_id, artifacts).requirements
    return _Loop(job, kernel, attempts, limits, clock.now())


def _situation(loop: _Loop, artifacts: Artifacts, available: frozenset[BackendName]) -> Situation:
    raw = artifacts.get(keys.capture(loop.job.job_id, loop.kernel.kernel_id))
    capture = Capture.model_validate_json(raw)
    best = lookup(loop.kernel.name, top=1)
    return Situation(
        asked=loop.job.request.backend,
        available=available,
        covered=capture.graph is not None and not uncovered(capture.graph),
        skill_score=best[0].score if best else 0.0,
        failed=tuple(attempt.backend for attempt in loop.attempts),
        escalated=loop.kernel.escalated,
    )


def _repeated(attempts: list[Attempt], choice: Choice) -> str:
    """Two attempts of one writer with one failure: a third has no new idea."""
    last = attempts[-2:]
    same_writer = {a.backend for a in last} == {choice.backend}
    same_failure = len({a.failure_digest for a in last}) == 1 and last[0].failure_digest
    if len(last) == 2 and same_writer and same_failure:  # noqa: PLR2004
        return f"attempts {last[0].attempt} and {last[1].attempt} failed alike, with no new idea"
    return ""


def _nobody(choice: Choice) -> str:
    return choice.reason if choice.backend is None else ""


def _too_dear(
    loop: _Loop,
    backends: Mapping[BackendName, Backend],
    choice: Choice,
    records: Records,
    artifacts: Artifacts,
) -> str:
    if choice.backend is None:
        return ""
    job_id, kernel_id = loop.job.job_id, loop.kernel.kernel_id
    task = task_of(
        job_id, kernel_id, records=records, artifacts=artifacts, before=len(loop.attempts) + 1
    )
    most = backends[choice.backend].most_usd(task)
    so_far, cap = spent(records, job_id), loop.limits.spend_cap_usd
    if most and so_far + most > cap:
        return (
            f"spend cap reached: {so_far:.2f} of {cap:.2f} USD are spent or set aside, and the "
            f"next call may cost {most:.2f}; raise spend_cap_usd at the requirements gate"
        )
    return ""


def _record(
    loop: _Loop, backend: BackendName, choice: Choice, records: Records, clock: Clock
) -> Attempt:
    attempt = Attempt(
        job_id=loop.job.job_id,
        kernel_id=loop.kernel.kernel_id,
        attempt=len(loop.attempts) + 1,
        backend=backend,
        why=choice.reason,
    )
    if not records.add(attempt):
        attempt = records.get(Attempt, attempt.partition(), attempt.sort()) or attempt
    _begin(loop.kernel, attempt, records, clock, escalated=choice.escalated)
    return attempt


def _begin(
    kernel: Kernel, attempt: Attempt, records: Records, clock: Clock, *, escalated: bool = False
) -> None:
    changed = kernel.model_copy(
        update={
            "attempt": attempt.attempt,
            "started": kernel.started or clock.now(),
            "status": kernel.status if kernel.accepted_attempt else "migrating",
            "escalated": kernel.escalated or escalated,
        }
    )
    if changed == kernel:
        return
    try:
        records.replace(changed)
    except Conflict as lost:
        raise StoreBusy(f"kernel '{kernel.kernel_id}' changed while it was planned") from lost


def _count(attempts: Iterable[Attempt], stages: frozenset[str]) -> int:
    return sum(attempt.failed_stage in stages for attempt in attempts)


def _go(attempt: Attempt) -> PlanResult:
    return PlanResult(
        job_id=attempt.job_id,
        kernel_id=attempt.kernel_id,
        attempt=attempt.attempt,
        action="generate",
        backend=attempt.backend,
        reason=attempt.why,
    )


def _result(request: PlanRequest, attempt: int, *, action: str, reason: str) -> PlanResult:
    return PlanResult.model_validate(
        {**dict(request), "attempt": attempt, "action": action, "reason": reason}
    )
