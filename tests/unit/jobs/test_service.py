"""Jobs as every surface sees them."""

import base64
import io
import zipfile
from dataclasses import dataclass, field

import pytest

from nkiport.adapters.memory import Artifacts, Records
from nkiport.contracts import keys
from nkiport.contracts.errors import (
    BadRequest,
    BadSource,
    Conflict,
    NotFound,
    SourceTooLarge,
    StoreBusy,
)
from nkiport.contracts.jobs import Gate, Job, JobRequest
from nkiport.jobs import service
from tests.unit.jobs.loop import START, Clock


@dataclass
class World:
    """The ports, and what was started and stopped."""

    artifacts: Artifacts = field(default_factory=Artifacts)
    records: Records = field(default_factory=Records)
    clock: Clock = field(default_factory=Clock)
    started: list = field(default_factory=list)
    stopped: list = field(default_factory=list)

    def start(self, job_id):
        self.started.append(job_id)

    def stop(self, job_id, reason):
        self.stopped.append((job_id, reason))

    def submit(self, data=None, owner="me", **asked):
        archive = zipped({"a.py": "x = 1\n"}) if data is None else data
        source = {"kind": "upload", "zip_base64": base64.b64encode(archive).decode()}
        return service.submit_job(
            JobRequest.model_validate({"source": source, **asked}), owner=owner,
            artifacts=self.artifacts, records=self.records, executions=self, clock=self.clock,
        )  # fmt: skip

    def cancel(self, job_id):
        return service.cancel_job(
            job_id, owner="me", records=self.records, executions=self, clock=self.clock
        )


@pytest.fixture
def world():
    return World()


def zipped(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def test_a_submitted_job_keeps_its_source_and_is_started(world):
    job = world.submit()

    assert (job.status, world.started) == ("queued", [job.job_id])
    stored = world.records.get(Job, f"JOB#{job.job_id}", "JOB")
    assert world.artifacts.get(stored.request.source.key) == zipped({"a.py": "x = 1\n"})


def test_an_idempotency_key_gives_one_job_and_never_two_requests(world):
    first = world.submit(idempotency_key="k")

    assert world.submit(idempotency_key="k").job_id == first.job_id
    with pytest.raises(Conflict, match="key 'k' was used for another request"):
        world.submit(idempotency_key="k", backend="recipes")
    assert world.submit(idempotency_key="k", owner="other").job_id != first.job_id


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"data": b"no zip"}, BadSource, "no readable zip archive"),
        ({"data": zipped({"../a.py": ""})}, BadSource, "leaves the source tree"),
        ({"data": zipped({"a": "x" * 4_500_000})}, SourceTooLarge, "larger ones by POST /uploads"),
        ({"target": "trn2"}, BadRequest, "no worker runs target 'trn2' yet"),
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_is_started(world, asked, error, said):
    with pytest.raises(error, match=said):
        world.submit(**asked)
    assert world.started == []


def test_a_key_that_nothing_was_uploaded_to_is_named(world):
    source = {"kind": "key", "key": keys.upload("0" * 64)}
    with pytest.raises(BadRequest, match="nothing was uploaded to"):
        service.submit_job(
            JobRequest.model_validate({"source": source}), owner="me", artifacts=world.artifacts,
            records=world.records, executions=world, clock=world.clock,
        )  # fmt: skip


def test_a_job_is_its_owners_alone(world):
    job = world.submit()

    with pytest.raises(NotFound, match=job.job_id):
        service.show_job(job.job_id, owner="other", records=world.records)
    listed = service.list_jobs(owner="other", records=world.records)
    assert listed.jobs == ()
    assert [j.job_id for j in service.list_jobs(owner="me", records=world.records).jobs] == [
        job.job_id
    ]


def test_a_task_token_is_never_shown(world):
    job = world.submit()
    world.records.add(
        Gate(job_id=job.job_id, gate="scope", task_token="secret-token", opened=START,
             expires=START)
    )  # fmt: skip

    shown = service.show_job(job.job_id, owner="me", records=world.records)

    assert shown.gates[0].gate == "scope"
    assert "secret-token" not in shown.model_dump_json()


def test_cancelling_twice_is_cancelling_once(world):
    job = world.submit()

    assert world.cancel(job.job_id).status == "cancelled"
    assert world.cancel(job.job_id).status == "cancelled"
    assert world.records.get(Job, f"JOB#{job.job_id}", "JOB").version == 1
    assert world.stopped[0] == (job.job_id, "cancelled on request")


class Moving(Records):
    """Records of a job whose machine writes it before so many of others' writes."""

    def __init__(self, writes):
        super().__init__()
        self.writes = writes

    def replace(self, item):
        if self.writes:
            self.writes -= 1
            super().replace(self.get(Job, item.partition(), "JOB"))
        super().replace(item)


def test_a_job_that_goes_on_meanwhile_is_cancelled_all_the_same(world):
    world.records = Moving(2)
    job = world.submit()

    assert world.cancel(job.job_id).status == "cancelled"
    assert world.stopped == [(job.job_id, "cancelled on request")]


def test_a_job_that_never_rests_is_busy_and_not_stopped(world):
    world.records = Moving(100)
    job = world.submit()

    with pytest.raises(StoreBusy, match="changed while it was cancelled; try again"):
        world.cancel(job.job_id)
    assert world.stopped == []


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../other/x", "kernels/../../x"])
def test_only_a_jobs_own_artifacts_have_links(world, path):
    job = world.submit()
    with pytest.raises(BadRequest, match="no name of an artifact"):
        service.artifact_link(
            job.job_id, path, owner="me", records=world.records, artifacts=world.artifacts
        )


def test_an_upload_is_asked_for_by_its_size(world):
    upload = service.request_upload(10, artifacts=world.artifacts)

    assert upload.key.startswith("uploads/")
    assert "bytes=10" in upload.url
    with pytest.raises(SourceTooLarge, match="at most 209715200"):
        service.request_upload(300 * 1024 * 1024, artifacts=world.artifacts)
