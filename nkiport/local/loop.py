"""The same steps in one process, on one reference file: no queue, no gate, no account."""

import hashlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from nkiport.adapters.memory import Artifacts, Records, SystemClock
from nkiport.capture import REFERENCE_LIMITS, ChildReferences
from nkiport.contracts import keys
from nkiport.contracts.base import BackendName, TargetName
from nkiport.contracts.capture import Reference
from nkiport.contracts.errors import BadRequest, CaptureFailed
from nkiport.contracts.jobs import Attempt, Job, JobRequest, Kernel, KeySource
from nkiport.contracts.judgement import Requirements, Verdict
from nkiport.contracts.steps import (
    AssessRequest,
    DeviceResult,
    DeviceTask,
    GenerateRequest,
    JudgeRequest,
    PlanRequest,
)
from nkiport.engines import FunctionalEngine
from nkiport.generation import Backend
from nkiport.jobs.assess import assess
from nkiport.jobs.capture import capture
from nkiport.jobs.device import compile_candidate, profile_candidate, verify_candidate
from nkiport.jobs.generate import generate
from nkiport.jobs.judge import judge
from nkiport.jobs.plan import plan
from nkiport.jobs.ports import Engine, References
from nkiport.jobs.seal import seal_kernel
from nkiport.jobs.source import pack_tree
from nkiport.judge.draws import Trials
from nkiport.sandbox import Limits

JOB, KERNEL = "local-one-file", "model"
SECONDS = 120
NOBODY = "none"
"""Who waits for the task: there is no state machine here."""
Told = Callable[[str], None]
"""Called with one line as each step ends."""


@dataclass(frozen=True)
class Migrated:
    """How one file ended: the last verdict, and the candidate it is about."""

    verdict: Verdict | None
    source: str | None
    reason: str = ""


@dataclass
class Bench:
    """One job of one kernel, and its ports in memory."""

    artifacts: Artifacts = field(default_factory=Artifacts)
    records: Records = field(default_factory=Records)
    engine: Engine = field(default_factory=FunctionalEngine)
    references: References = field(default_factory=ChildReferences)
    told: Told = print

    def begin(
        self, file: Path, backend: BackendName, target: TargetName, requirements: Requirements
    ) -> None:
        """Record the job, capture the reference and seal its oracle."""
        source = _packed(file)
        self.artifacts.put(keys.source(JOB), source)
        job = self._job(source, backend, target, requirements)
        kernel = Kernel(
            job_id=JOB, kernel_id=KERNEL, name=file.stem, kind="module", file=file.name, line=1,
            reference=Reference(kind="module", file=file.name, symbol="Model"),
        )  # fmt: skip
        self.records.add(job)
        self.records.add(kernel)
        task = DeviceTask(job_id=JOB, kernel_id=KERNEL, step="capture", task_token=NOBODY)
        done = capture(
            task, artifacts=self.artifacts, records=self.records, references=self.references
        )
        self.told(f"capture    {done.outcome}  {done.reason}")
        if done.outcome == "failed":
            raise CaptureFailed(done.reason)
        ask = AssessRequest(job_id=JOB, kernel_id=KERNEL, captured="passed")
        assess(ask, artifacts=self.artifacts, records=self.records)
        seal_kernel(
            job, kernel, requirements, artifacts=self.artifacts, entropy=secrets.SystemRandom()
        )

    def attempt(self, number: int) -> Verdict | None:
        """Compile, verify, profile as far as it gets, and judge."""
        steps = {
            "compile": compile_candidate, "verify": verify_candidate, "profile": profile_candidate,
        }  # fmt: skip
        for name, step in steps.items():
            task = DeviceTask.model_validate(
                {"job_id": JOB, "kernel_id": KERNEL, "step": name, "task_token": NOBODY,
                 "attempt": number}
            )  # fmt: skip
            done: DeviceResult = step(
                task, artifacts=self.artifacts, records=self.records, engine=self.engine,
                references=self.references, inputs=Trials(),
            )  # fmt: skip
            self.told(f"{name:10} {done.outcome}  {done.seconds:.1f} s  {done.reason}")
            if done.outcome == "failed":
                break
        return self.judged(number)

    def judged(self, number: int) -> Verdict | None:
        """The verdict of an attempt, or None if it had no candidate."""
        ask = JudgeRequest(job_id=JOB, kernel_id=KERNEL, attempt=number)
        result = judge(ask, records=self.records, artifacts=self.artifacts, clock=SystemClock())
        self.told(f"judge      {result.outcome}")
        key = keys.verdict(JOB, KERNEL, number)
        if key not in self.artifacts.keys(key):
            return None
        return Verdict.model_validate_json(self.artifacts.get(key))

    def candidate(self, number: int) -> str | None:
        """The candidate of an attempt."""
        key = keys.candidate(JOB, KERNEL, number)
        return self.artifacts.get(key).decode() if key in self.artifacts.keys(key) else None

    def _job(
        self, source: bytes, backend: BackendName, target: TargetName, requirements: Requirements
    ) -> Job:
        now = SystemClock().now()
        digest = hashlib.sha256(source).hexdigest()
        request = JobRequest(
            source=KeySource(key=keys.upload(digest)), backend=backend, target=target,
            requirements=requirements,
        )  # fmt: skip
        return Job(
            job_id=JOB, request=request, request_sha256=digest, status="migrating", created=now,
            updated=now, deadline=now + timedelta(hours=request.deadline_hours),
        )  # fmt: skip


def migrate(
    file: Path,
    *,
    backends: Mapping[BackendName, Backend],
    backend: BackendName = "recipes",
    target: TargetName = "trn1",
    requirements: Requirements | None = None,
    seconds: int = SECONDS,
    told: Told = print,
) -> Migrated:
    """Write, judge and write again until a candidate is accepted or the plan stops.

    ``seconds`` is how long all trials of the kernel may take, and those of the reference.

    Raises ``BadRequest`` for a file that is not there, ``CaptureFailed`` if the reference cannot
    be captured.
    """
    bench = _bench(target, seconds, told)
    bench.begin(file, backend, target, requirements or Requirements())
    verdict: Verdict | None = None
    number, reason = 0, ""
    while verdict is None or verdict.outcome == "rejected":
        planned = plan(
            PlanRequest(job_id=JOB, kernel_id=KERNEL),
            records=bench.records, artifacts=bench.artifacts, clock=SystemClock(),
            backends=backends,
        )  # fmt: skip
        if planned.action == "stop":
            return Migrated(verdict, bench.candidate(number), reason or planned.reason)
        number = planned.attempt
        ask = GenerateRequest(job_id=JOB, kernel_id=KERNEL, attempt=number, backend=planned.backend)
        written = generate(
            ask, records=bench.records, artifacts=bench.artifacts, backends=backends,
            clock=SystemClock(),
        )  # fmt: skip
        told(f"generate   {written.outcome}  {planned.backend}  {written.reason}")
        good = written.outcome == "generated"
        verdict = bench.attempt(number) if good else bench.judged(number)
        reason = written.reason
    return Migrated(verdict, bench.candidate(number))


def _bench(target: TargetName, seconds: int, told: Told) -> Bench:
    time = {"wall_seconds": seconds, "cpu_seconds": seconds}
    return Bench(
        told=told,
        engine=FunctionalEngine(target, Limits(**time)),
        references=ChildReferences(replace(REFERENCE_LIMITS, **time)),
    )


def judge_files(
    reference: Path,
    candidate: Path,
    *,
    target: TargetName = "trn1",
    requirements: Requirements | None = None,
    seconds: int = SECONDS,
    told: Told = print,
) -> Verdict:
    """Judge a candidate that somebody else wrote. Raises as ``migrate`` does."""
    if not candidate.is_file():
        raise BadRequest(f"there is no candidate file '{candidate}'")
    bench = _bench(target, seconds, told)
    bench.begin(reference, "recipes", target, requirements or Requirements())
    key, source = keys.candidate(JOB, KERNEL, 1), candidate.read_bytes()
    bench.artifacts.put(key, source)
    bench.records.add(
        Attempt(
            job_id=JOB, kernel_id=KERNEL, attempt=1, backend="recipes", why="given as a file",
            status="generated", candidate_key=key,
            candidate_sha256=hashlib.sha256(source).hexdigest(),
        )
    )  # fmt: skip
    verdict = bench.attempt(1)
    if verdict is None:
        raise BadRequest(f"'{candidate}' could not be judged")
    return verdict


def _packed(file: Path) -> bytes:
    """A tree of the one file: a reference stands by itself."""
    if not file.is_file():
        raise BadRequest(f"there is no reference file '{file}'")
    with TemporaryDirectory() as folder:
        (Path(folder) / file.name).write_bytes(file.read_bytes())
        return pack_tree(Path(folder))
