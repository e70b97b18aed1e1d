"""Records, the same in one process and in DynamoDB."""

from datetime import UTC, datetime, timedelta

import pytest

from nkiport.contracts.errors import Conflict
from nkiport.contracts.jobs import Gate, Job, JobRequest, Kernel, KeySource

NOW = datetime(2026, 1, 2, tzinfo=UTC)
REQUEST = JobRequest(source=KeySource(key="uploads/a.zip"))


def job(job_id="job-00000001", owner="me", minutes=0):
    when = NOW + timedelta(minutes=minutes)
    return Job(
        job_id=job_id, request=REQUEST, request_sha256="0" * 64, owner=owner, created=when,
        updated=when, deadline=when,
    )  # fmt: skip


def kernel(kernel_id):
    return Kernel(
        job_id="job-00000001", kernel_id=kernel_id, name="k", kind="module", file="k.py", line=1
    )


def test_a_record_is_added_once(records):
    assert records.add(job())
    assert not records.add(job(owner="other"))
    assert records.get(Job, "JOB#job-00000001", "JOB").owner == "me"


def test_a_write_over_a_newer_version_is_a_conflict(records):
    records.add(job())
    seen = records.get(Job, "JOB#job-00000001", "JOB")
    written = records.replace(seen.model_copy(update={"status": "capturing"}))

    assert written.version == seen.version + 1
    with pytest.raises(Conflict, match="changed since version 0 was read"):
        records.replace(seen.model_copy(update={"status": "failed"}))
    assert records.get(Job, "JOB#job-00000001", "JOB").status == "capturing"


def test_a_record_nobody_added_cannot_be_replaced(records):
    with pytest.raises(Conflict):
        records.replace(job())


def test_records_are_found_by_kind_and_prefix_in_order(records):
    records.add(job())
    for name in ("b", "a"):
        records.add(kernel(name))

    found = records.query(Kernel, "JOB#job-00000001", "KERNEL#")

    assert [each.kernel_id for each in found] == ["a", "b"]
    assert records.query(Gate, "JOB#job-00000001", "KERNEL#") == []
    assert records.get(Kernel, "JOB#job-00000001", "JOB") is None


def test_an_owner_pages_through_jobs_newest_first(records):
    for number in range(1, 5):
        records.add(job(f"job-0000000{number}", minutes=number))
    records.add(job("job-00000009", owner="other", minutes=9))

    first = records.jobs("me", 2)
    rest = records.jobs("me", 10, before=first[-1].job_id)

    assert [each.job_id[-1] for each in first] == ["4", "3"]
    assert [each.job_id[-1] for each in rest] == ["2", "1"]
    assert records.jobs("nobody", 5) == []
