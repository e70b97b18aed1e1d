"""From submission to evidence, on the stacks as they are synthesized."""

import re
import subprocess
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import load_der_public_key
from securesystemslib.signer import SSlibKey

from nkiport.adapters.dynamodb_records import DynamoRecords
from nkiport.adapters.sqs_device_queue import SqsDeviceQueue
from nkiport.contracts.errors import (
    BadSource,
    Conflict,
    NotFound,
    SourceTooLarge,
)
from nkiport.contracts.jobs import WorkEntry
from nkiport.contracts.surfaces import GateBody
from nkiport.judge.evidence import signed_by, verify
from nkiport.local import stacks
from nkiport.local.deploy import Cloud
from nkiport.local.process import alive, end
from tests.local.conftest import zipped

pytestmark = pytest.mark.local
EXAMPLES = Path(__file__).parents[2] / "examples"
DOUBLE = """import torch


class Double(torch.nn.Module):
    def forward(self, x):
        return x * 2


def get_inputs():
    return [torch.randn(64, 32)]
"""
RIGHT = """import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def double_kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.multiply(nl.load(x), 2.0))
    return out
"""
WRONG = RIGHT.replace("2.0", "3.0")


def test_three_kernels_are_delivered_after_both_gates_one_over_the_api_one_by_mail(local, tmp_path):
    files = {path.name: path.read_text() for path in EXAMPLES.glob("*.py")}
    job = local.submit(files, notify="owner@example.com")
    local.approve(job.job_id, "scope")
    local.waits(job.job_id, "requirements")

    link = mailed_link(local, job.job_id, "requirements")
    assert "Approve" in httpx.get(link, timeout=30).text
    assert open_gates(local, job.job_id) == ["requirements"]
    answer = httpx.post(link, data={"decision": "approved"}, timeout=30)

    assert answer.status_code == 200
    job = local.ended(job.job_id)
    assert {k.name: k.status for k in job.kernels} == {
        "softmax_kernel": "accepted", "rmsnorm_kernel": "accepted", "RMSNorm": "accepted",
    }  # fmt: skip
    assert httpx.post(link, data={"decision": "rejected"}, timeout=30).status_code == 409
    with pytest.raises(Conflict, match="already approved"):
        local.client.answer(job.job_id, "scope", GateBody(decision="rejected"))
    assert_delivered(local, job, files, tmp_path)


def test_a_pinned_model_that_errs_once_is_accepted_on_its_second_turn(local):
    from tests.doubles.converse_server import Submits

    local.model.turns[:] = [Submits(WRONG), Submits(RIGHT)]
    local.model.requests.clear()
    job = local.submit({"double.py": DOUBLE}, backend="claude")
    local.approve(job.job_id, "scope")
    local.approve(job.job_id, "requirements")

    job = local.ended(job.job_id)

    assert [(k.status, k.attempt) for k in job.kernels] == [("accepted", 2)]
    assert len(local.model.requests) == 2
    assert "numbers" in str(local.model.requests[1])
    assert job.tokens == 2 * 1500
    assert job.usd > 0


def test_a_worker_that_is_killed_in_the_middle_is_replaced_without_a_trace(local):
    job = local.submit({"double.py": DOUBLE})
    local.waits(job.job_id, "scope")
    for pid in local.workers[1:]:
        end(pid)
    local.approve(job.job_id, "scope")
    local.until(job.job_id, lambda job: job.status == "capturing")
    end(local.workers[0])
    local.workers[:] = [stacks.start_worker(local.state) for _ in range(2)]

    local.approve(job.job_id, "requirements")
    job = local.ended(job.job_id)

    assert all(alive(pid) for pid in local.workers)
    assert [(k.status, k.attempt) for k in job.kernels] == [("accepted", 1)]


def test_a_message_that_comes_twice_gives_one_answer_and_leaves_nothing_in_the_queue(local):
    for pid in local.workers:
        end(pid)
    job = local.submit({"double.py": DOUBLE})
    local.approve(job.job_id, "scope")
    with Cloud(local.state.endpoint) as cloud:
        queue = SqsDeviceQueue(local.state.outputs["DeviceQueueUrl"], cloud.client("sqs"))
        message = queue.take()
        cloud.client("sqs").send_message(
            QueueUrl=local.state.outputs["DeviceQueueUrl"], MessageBody=message.body
        )
        queue.keep(message, 0)
        local.workers[:] = [stacks.start_worker(local.state) for _ in range(2)]

        local.approve(job.job_id, "requirements")
        job = local.ended(job.job_id)

        assert [(k.status, k.attempt) for k in job.kernels] == [("accepted", 1)]
        assert queue.take() is None
        records = DynamoRecords(local.state.outputs["TableName"], cloud.client("dynamodb"))
        work = records.query(WorkEntry, f"JOB#{job.job_id}", "WORK#")
    assert sorted(each.step for each in work) == ["capture", "compile", "profile", "verify"]


def test_a_cancelled_job_takes_no_answer_and_runs_no_further(local):
    job = local.submit({"double.py": DOUBLE})
    local.waits(job.job_id, "scope")

    assert local.client.cancel(job.job_id).status == "cancelled"

    with pytest.raises(Conflict, match="ended as 'cancelled'"):
        local.client.answer(job.job_id, "scope", GateBody(decision="approved"))
    assert local.client.cancel(job.job_id).status == "cancelled"
    assert [k.status for k in local.client.job(job.job_id).kernels] == ["found"]


def test_a_rejected_gate_ends_the_job(local):
    job = local.submit({"double.py": DOUBLE})
    local.waits(job.job_id, "scope")
    local.client.answer(job.job_id, "scope", GateBody(decision="rejected"))

    assert local.ended(job.job_id).status == "gate_rejected"


def test_the_same_idempotency_key_gives_one_job_and_another_request_a_conflict(local):
    first = local.submit({"double.py": DOUBLE}, idempotency_key="once")
    again = local.submit({"double.py": DOUBLE}, idempotency_key="once")

    assert again.job_id == first.job_id
    with pytest.raises(Conflict, match="another request"):
        local.submit({"double.py": DOUBLE + "\n"}, idempotency_key="once")
    local.client.cancel(first.job_id)


def test_a_repository_without_kernels_says_so(local):
    job = local.ended(local.submit({"readme.py": "x = 1\n"}).job_id)

    assert job.status == "nothing_found"
    assert "no kernel was found in 1 files" in job.reason


def test_a_module_that_raises_ends_with_its_own_words(local):
    raising = DOUBLE.replace("return x * 2", "raise ValueError('no such luck')")
    job = local.submit({"double.py": raising})
    local.approve(job.job_id, "scope")

    job = local.ended(job.job_id)

    assert job.status == "nothing_accepted"
    assert job.kernels[0].status == "not_captured"
    assert "ValueError: no such luck" in job.kernels[0].reason


def test_an_archive_that_leaves_the_tree_is_refused_at_once(local):
    with pytest.raises(BadSource, match=r"'\.\./evil\.py' leaves the source tree"):
        local.submit({"../evil.py": "x = 1\n"})


def test_a_zip_bomb_is_refused_at_once(local):
    with pytest.raises(SourceTooLarge, match="zip bomb's ratio"):
        local.submit({"bomb.py": "0" * 50_000_000})


def test_an_upload_of_300_mb_is_refused_before_a_byte_is_sent(local):
    with pytest.raises(SourceTooLarge, match="314572800 bytes; at most 209715200"):
        local.client._ask("POST", "/uploads", {"bytes": 300 * 1024 * 1024})


def test_a_large_tree_goes_by_an_upload_link(local, tmp_path):
    import secrets

    (tmp_path / "double.py").write_text(DOUBLE)
    (tmp_path / "weights.bin").write_bytes(secrets.token_bytes(5 * 1024 * 1024))
    from nkiport.contracts.jobs import JobRequest

    source = local.client.source(tmp_path)
    job = local.client.submit(JobRequest.model_validate({"source": source}))

    assert source["kind"] == "key"
    assert [k.name for k in local.waits(job.job_id, "scope").kernels] == ["Double"]
    local.client.cancel(job.job_id)


def test_an_input_of_an_unknown_dtype_is_one_clear_sentence(local):
    from nkiport.contracts.errors import BadRequest

    reference = {"kind": "module", "file": "double.py", "symbol": "Double",
                 "inputs": [{"name": "x", "shape": [2, 2], "dtype": "float31"}]}  # fmt: skip
    url, body = (
        "/jobs",
        {
            "source": {"kind": "upload", "zip_base64": ""},
            "kernels": {"double": {"reference": reference}},
        },
    )
    with pytest.raises(BadRequest, match=r"dtype.*float31|dtype: Input should be"):
        local.client._ask("POST", url, body)


def test_strangers_are_kept_out(local):
    assert httpx.get(f"{local.state.url}/jobs", timeout=30).status_code in {401, 403}
    wrong = {"Authorization": "Bearer wrong"}
    assert httpx.get(f"{local.state.url}/jobs", headers=wrong, timeout=30).status_code == 403
    with pytest.raises(NotFound):
        local.client.job("job-of-nobody")


def assert_delivered(local, job, files, tmp_path):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "migration.patch").write_bytes(local.client.artifact(job.job_id, "migration.patch"))
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply", "migration.patch"], cwd=tmp_path, check=True)
    assert "@nki.jit" in (tmp_path / "nki_kernels/softmax_kernel/kernel.py").read_text()
    told = (tmp_path / "nki_kernels/softmax_kernel/evidence.md").read_text()
    assert "functional" in told.splitlines()[0]
    data = (tmp_path / "nki_kernels/softmax_kernel/evidence.json").read_bytes()
    with Cloud(local.state.endpoint) as cloud:
        arn = local.state.outputs["EvidenceKeyArn"]
        public = cloud.client("kms").get_public_key(KeyId=arn)["PublicKey"]
    key = SSlibKey.from_crypto(load_der_public_key(public), keyid=signed_by(data))
    assert verify(data, key).kernel == "softmax_kernel"


def mailed_link(local, job_id, gate):
    messages = httpx.get(f"{local.state.endpoint}/_ministack/ses/messages", timeout=30).text
    links = re.findall(r"http://[\w.:/-]+/gate-links/[\w.-]+", messages)
    from nkiport.jobs.links import _bytes

    mine = [link for link in links if [job_id, gate] == decoded(link, _bytes)]
    assert mine, messages[:2000]
    return mine[-1]


def decoded(link, read):
    import json

    return json.loads(read(link.rsplit("/", 1)[1].split(".")[0]))[:2]


def open_gates(local, job_id):
    return [g.gate for g in local.client.job(job_id).gates if g.status == "open"]


def test_zipped_is_a_real_archive():
    assert zipped({"a.py": "1"})[:2] == b"PK"
