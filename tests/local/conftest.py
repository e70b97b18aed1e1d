"""The local stacks, up once for all of these tests, with a scripted model in Bedrock's place."""

import io
import time
import zipfile
from dataclasses import dataclass

import httpx
import pytest

from nkiport.client import Bearer, Client
from nkiport.contracts.jobs import ENDED, JobRequest
from nkiport.contracts.surfaces import GateBody
from nkiport.local import process, stacks
from tests.doubles.converse_server import ConverseServer, converse_server

MOST_SECONDS = 120.0


@dataclass
class Stacks:
    """What the tests talk to."""

    state: stacks.State
    client: Client
    model: ConverseServer
    workers: list[int]

    def submit(self, files, **asked):
        source = {"kind": "upload", "zip_base64": encoded(zipped(files))}
        return self.client.submit(JobRequest.model_validate({"source": source, **asked}))

    def until(self, job_id, done):
        """Poll until the job is as wanted; a job that ended otherwise fails the test at once."""
        last = time.monotonic() + MOST_SECONDS
        while time.monotonic() < last:
            job = self.client.job(job_id)
            if done(job):
                return job
            if job.status in ENDED:
                break
            httpx.get(f"{self.state.endpoint}/_ministack/health", timeout=5)
        raise AssertionError(f"the job is {job.status}: {job.reason}")

    def waits(self, job_id, gate):
        return self.until(
            job_id, lambda job: any(g.gate == gate and g.status == "open" for g in job.gates)
        )

    def ended(self, job_id):
        return self.until(job_id, lambda job: job.status in ENDED)

    def approve(self, job_id, gate, **body):
        self.waits(job_id, gate)
        return self.client.answer(job_id, gate, GateBody(decision="approved", **body))


@pytest.fixture(scope="session")
def local(tmp_path_factory):
    home = tmp_path_factory.mktemp("stacks")
    with converse_server([]) as model:
        state = stacks.up(home=home, bedrock_url=model.url)
        try:
            client, workers = Client(state.url, Bearer(state.token)), list(state.worker_pids)
            yield Stacks(state, client, model, workers)
            client.close()
            for pid in workers:
                process.end(pid)
        finally:
            stacks.down(home=home)


def zipped(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def encoded(data):
    import base64

    return base64.b64encode(data).decode()
