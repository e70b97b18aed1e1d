"""The benchmark submits its tasks once, approves its gates and reports how each task ended."""

import io
import json
import zipfile
from datetime import UTC, datetime, timedelta

import pytest

from nkiport import __version__
from nkiport.adapters.memory import Artifacts, Records
from nkiport.contracts.errors import BadSource, NotFound
from nkiport.contracts.jobs import Gate, Job, Kernel, LedgerEntry
from nkiport.contracts.steps import BenchReportRequest, BenchStartRequest
from nkiport.jobs.bench import report_benchmark, start_benchmark

NOW = datetime(2026, 12, 1, tzinfo=UTC)


class Clock:
    def now(self):
        return NOW


class Executions:
    def __init__(self):
        self.started = []

    def start(self, job_id):
        self.started.append(job_id)


@pytest.fixture
def ports():
    return {"artifacts": Artifacts(), "records": Records()}


@pytest.fixture
def tasks(tmp_path):
    (tmp_path / "softmax.py").write_text("class Model: ...\n")
    (tmp_path / "level2").mkdir()
    (tmp_path / "level2" / "norm.py").write_text("class Model: ...\n")
    return tmp_path


@pytest.fixture
def start(ports, tasks):
    executions = Executions()

    def starting(run):
        request = BenchStartRequest(started=run)
        return start_benchmark(
            request, tasks=tasks, executions=executions, clock=Clock(), **ports
        ).job_id

    starting.executions = executions
    return starting


def test_a_run_becomes_one_job_that_holds_every_task(start, ports):
    job_id = start("2026-12-01T00:00:00Z")

    job = ports["records"].get(Job, f"JOB#{job_id}", "JOB")
    packed = zipfile.ZipFile(io.BytesIO(ports["artifacts"].get(job.request.source.key)))
    assert sorted(packed.namelist()) == ["level2/norm.py", "softmax.py"]
    assert job.deadline - job.created == timedelta(hours=20)
    assert start.executions.started == [job_id]


def test_the_same_run_asked_for_twice_is_one_job_and_another_run_another(start, ports):
    first, again, other = start("monday"), start("monday"), start("tuesday")

    assert first == again != other
    assert len(ports["records"].jobs("benchmark", 10)) == 2


def test_a_folder_without_tasks_is_refused(ports, tmp_path):
    with pytest.raises(BadSource, match="no benchmark task"):
        start_benchmark(
            BenchStartRequest(started="x"), tasks=tmp_path, executions=Executions(),
            clock=Clock(), **ports,
        )  # fmt: skip


def _gate(job_id, name, status):
    return Gate(
        job_id=job_id, gate=name, task_token="token", opened=NOW, expires=NOW, status=status
    )


def test_only_gates_that_wait_are_approved(start, ports):
    job_id = start("monday")
    ports["records"].add(_gate(job_id, "scope", "approved"))
    ports["records"].add(_gate(job_id, "requirements", "open"))
    answers = []

    told = report_benchmark(BenchReportRequest(job_id=job_id), answer=answers.append, **ports)

    assert told.outcome == "running"
    assert [(a.gate, a.decision, a.answered_by) for a in answers] == [
        ("requirements", "approved", "benchmark")
    ]


def _kernel(job_id, name, status, attempt):
    return Kernel(
        job_id=job_id, kernel_id=name, name=name, kind="module", file="t.py", line=1,
        status=status, attempt=attempt,
    )  # fmt: skip


def test_an_ended_job_is_reported_task_by_task_with_what_it_cost(start, ports):
    job_id = start("monday")
    records = ports["records"]
    job = records.get(Job, f"JOB#{job_id}", "JOB")
    records.replace(job.model_copy(update={"status": "delivered"}))
    records.add(_kernel(job_id, "softmax", "accepted", 2))
    records.add(_kernel(job_id, "norm", "abandoned", 10))
    records.add(
        LedgerEntry(
            job_id=job_id, kernel_id="softmax", call_id="1", backend="claude", model="m",
            reserved_usd=0.5, usd=0.25, at=NOW,
        )
    )  # fmt: skip

    told = report_benchmark(BenchReportRequest(job_id=job_id), answer=pytest.fail, **ports)

    report = json.loads(ports["artifacts"].get(told.report_key))
    assert (told.outcome, told.accepted, told.total) == ("reported", 1, 2)
    assert [(t["kernel_id"], t["status"], t["attempts"], t["usd"]) for t in report["tasks"]] == [
        ("norm", "abandoned", 10, 0),
        ("softmax", "accepted", 2, 0.25),
    ]


def test_a_report_of_an_unknown_job_is_refused(ports):
    with pytest.raises(NotFound, match="bench-00000000"):
        report_benchmark(BenchReportRequest(job_id="bench-00000000"), answer=pytest.fail, **ports)


def _ended(start, ports, day, **statuses):
    job_id = start(day)
    records = ports["records"]
    job = records.get(Job, f"JOB#{job_id}", "JOB")
    records.replace(job.model_copy(update={"status": "delivered"}))
    for name, status in statuses.items():
        records.add(_kernel(job_id, name, status, 1))
    told = report_benchmark(BenchReportRequest(job_id=job_id), answer=pytest.fail, **ports)
    return job_id, json.loads(ports["artifacts"].get(told.report_key))


def test_a_report_says_what_was_won_and_lost_since_the_last_one(start, ports):
    first, told = _ended(start, ports, "monday", softmax="accepted", norm="abandoned")
    assert told["change"] is None

    _, told = _ended(start, ports, "tuesday", softmax="abandoned", norm="accepted_slow")

    assert told["change"] == {
        "job_id": first, "version": __version__, "won": ["t.py:norm"], "lost": ["t.py:softmax"],
    }  # fmt: skip


def test_a_report_asked_for_again_is_compared_with_what_it_was_compared_with(start, ports):
    _ended(start, ports, "monday", softmax="accepted")
    job_id, told = _ended(start, ports, "tuesday", softmax="abandoned")

    again = report_benchmark(BenchReportRequest(job_id=job_id), answer=pytest.fail, **ports)

    assert json.loads(ports["artifacts"].get(again.report_key)) == told
