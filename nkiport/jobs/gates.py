"""The two questions a person answers: which kernels, and under which requirements."""

from datetime import timedelta
from random import Random

from nkiport.contracts.errors import BadRequest, Conflict, NotFound, StoreBusy
from nkiport.contracts.jobs import ENDED, Gate, GateName, Job, JobStatus, Kernel
from nkiport.contracts.steps import GateAnswer, GateResult, OpenGateRequest
from nkiport.jobs.links import GateLinks, digest
from nkiport.jobs.ports import Artifacts, Clock, GateNotices, Records, TaskTokens
from nkiport.jobs.seal import seal_kernel

WAITS: dict[GateName, JobStatus] = {
    "scope": "waiting_scope",
    "requirements": "waiting_requirements",
}
GOES_ON: dict[GateName, JobStatus] = {"scope": "capturing", "requirements": "migrating"}
CHOSEN_FROM: dict[GateName, frozenset[str]] = {
    "scope": frozenset({"found"}),
    "requirements": frozenset({"captured"}),
}
"""The status of a kernel that a gate may let through."""
TRIES = 5


def open_gate(
    request: OpenGateRequest,
    *,
    records: Records,
    notices: GateNotices,
    links: GateLinks,
    clock: Clock,
) -> None:
    """Record the question and tell the person; a second message replaces the token only.

    Raises ``NotFound`` for a job nobody submitted.
    """
    job = _job(request.job_id, records)
    if job.status in ENDED:
        return
    now = clock.now()
    expires = now + timedelta(seconds=request.timeout_seconds)
    token = links.token(job.job_id, request.gate, expires)
    gate = Gate(
        job_id=job.job_id,
        gate=request.gate,
        task_token=request.task_token,
        opened=now,
        expires=expires,
        link_nonce_sha256=digest(token),
    )
    if not records.add(gate):
        gate = _asked_again(gate, records)
    found = len(records.query(Kernel, job.partition(), "KERNEL#"))
    job = _advance(job.job_id, WAITS[request.gate], records, clock, found=found)
    notices.tell(job, gate, links.link(job.job_id, request.gate, expires))


def answer_gate(
    answer: GateAnswer,
    *,
    records: Records,
    artifacts: Artifacts,
    tokens: TaskTokens,
    clock: Clock,
    entropy: Random,
) -> Gate:
    """Decide a gate once: seal the oracles, record the answer, return the task token.

    Raises ``NotFound`` where nothing waits, ``BadRequest`` for kernels that cannot be chosen, and
    ``Conflict`` if it was answered, has expired, or its job has ended.
    """
    job, gate = _job(answer.job_id, records), _gate(answer, records)
    if gate.status != "open":
        return _answered_before(answer, gate, tokens)
    if job.status in ENDED:
        raise Conflict(f"job '{job.job_id}' has ended as '{job.status}'; nothing waits any more")
    if clock.now() >= gate.expires:
        raise Conflict(f"the {gate.gate} gate expired at {gate.expires:%Y-%m-%d %H:%M} UTC")
    chosen = _chosen(answer, records) if answer.decision == "approved" else []
    requirements = answer.requirements or job.request.requirements
    if answer.gate == "requirements":
        for kernel in chosen:
            seal_kernel(job, kernel, requirements, artifacts=artifacts, entropy=entropy)
    decided = gate.model_copy(
        update={
            "status": answer.decision,
            "answered_by": answer.answered_by,
            "answered": clock.now(),
            "kernels": tuple(kernel.kernel_id for kernel in chosen),
            "requirements": requirements,
        }
    )
    decided = records.replace(decided)  # whoever comes second gets a Conflict here
    if answer.decision == "approved":
        _advance(job.job_id, GOES_ON[answer.gate], records, clock)
    tokens.succeed(decided.task_token, _result(decided).model_dump(mode="json"))
    return decided


def gate_of(job_id: str, gate: str, records: Records) -> Gate:
    """The gate's record. Raises ``NotFound``."""
    found = records.get(Gate, f"JOB#{job_id}", f"GATE#{gate}")
    if found is None:
        raise NotFound(f"job '{job_id}' has no {gate} gate yet")
    return found


def choosable(job_id: str, gate: GateName, records: Records) -> list[Kernel]:
    """The kernels that a gate can let through."""
    every = records.query(Kernel, f"JOB#{job_id}", "KERNEL#")
    return [kernel for kernel in every if kernel.status in CHOSEN_FROM[gate]]


def _gate(answer: GateAnswer, records: Records) -> Gate:
    return gate_of(answer.job_id, answer.gate, records)


def _answered_before(answer: GateAnswer, gate: Gate, tokens: TaskTokens) -> Gate:
    """The first answer holds. If its token was never returned, return it now."""
    try:
        tokens.succeed(gate.task_token, _result(gate).model_dump(mode="json"))
    except Conflict:
        pass
    else:
        if answer.decision == gate.status:
            return gate
    who = f" by {gate.answered_by}" if gate.answered_by else ""
    when = f" at {gate.answered:%Y-%m-%d %H:%M} UTC" if gate.answered else ""
    raise Conflict(f"the {gate.gate} gate was already {gate.status}{who}{when}")


def _chosen(answer: GateAnswer, records: Records) -> list[Kernel]:
    there = {k.kernel_id: k for k in choosable(answer.job_id, answer.gate, records)}
    wanted = list(there) if answer.kernels is None else list(dict.fromkeys(answer.kernels))
    unknown = [kernel_id for kernel_id in wanted if kernel_id not in there]
    if unknown or not wanted:
        asked = f"kernels {', '.join(unknown)} cannot be chosen" if unknown else "no kernel chosen"
        raise BadRequest(f"{asked}; there are: {', '.join(there) or 'none'}")
    return [there[kernel_id] for kernel_id in wanted]


def _result(gate: Gate) -> GateResult:
    return GateResult(
        job_id=gate.job_id,
        gate=gate.gate,
        decision="approved" if gate.status == "approved" else "rejected",
        kernels=gate.kernels,
    )


def _asked_again(gate: Gate, records: Records) -> Gate:
    """A retried state has a new token; an answered gate stays as it is."""
    stored = gate_of(gate.job_id, gate.gate, records)
    if stored.status != "open":
        return stored
    changes = {
        "task_token": gate.task_token,
        "expires": gate.expires,
        "link_nonce_sha256": gate.link_nonce_sha256,
    }
    try:
        return records.replace(stored.model_copy(update=changes))
    except Conflict as lost:
        raise StoreBusy(f"the {gate.gate} gate changed while it was opened") from lost


def _advance(
    job_id: str, status: JobStatus, records: Records, clock: Clock, found: int | None = None
) -> Job:
    """Move the job on; one that has ended stays ended."""
    for _ in range(TRIES):
        job = _job(job_id, records)
        if job.status in ENDED:
            return job
        changes: dict[str, object] = {"status": status, "updated": clock.now()}
        if found is not None:
            changes["found"] = found
        try:
            return records.replace(job.model_copy(update=changes))
        except Conflict:
            continue
    raise StoreBusy(f"job '{job_id}' kept changing")


def _job(job_id: str, records: Records) -> Job:
    job = records.get(Job, f"JOB#{job_id}", "JOB")
    if job is None:
        raise NotFound(f"there is no job '{job_id}'")
    return job
