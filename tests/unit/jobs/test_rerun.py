"""The delivered test repeats the comparison, and fails when the kernel is wrong."""

import base64
import json
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from nkiport.contracts.capture import Reference
from nkiport.contracts.evidence import Environment, Evidence
from nkiport.contracts.judgement import Oracle, Requirements, Seed, Verdict
from nkiport.contracts.tensors import Draw, InputSpec, TensorSpec
from nkiport.delivery import Delivered, evidence_in, files_of
from nkiport.jobs.rerun import rerun_files
from tests.unit.jobs.loop import START

DIGEST = "a" * 64
MODEL = """
import torch


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
"""
RIGHT = files("nkiport.skills").joinpath("kernels/rmsnorm.nki").read_text()
WRONG = RIGHT.replace("value=scaled", "value=normed")
"""Drops the weight, as a kernel tested with ones may do."""


def evidence():
    oracle = Oracle(
        job_id="job-12345678",
        kernel_id="net-1",
        source_sha256=DIGEST,
        reference=Reference(kind="module", file="src/net.py", symbol="Net", init=(32,)),
        inputs=(
            InputSpec(name="x", shape=(130, 32)),
            InputSpec(name="weight", shape=(32,), role="weight", draw=Draw(mean=1.0, std=0.5)),
        ),
        outputs=(TensorSpec(name="out", shape=(130, 32)),),
        requirements=Requirements(),
        seed_commitment=DIGEST,
    )
    verdict = Verdict(job_id="job-12345678", kernel_id="net-1", attempt=1, outcome="accepted",
                      level="functional", candidate_sha256=DIGEST, checks=())  # fmt: skip
    return Evidence(
        job_id="job-12345678", kernel_id="net-1", kernel="Net", kind="module", file="src/net.py",
        level="functional", target="trn1", engine="functional", backend="recipes", attempts=1,
        oracle=oracle, seed=Seed(seed=5, nonce="n"), reference_sha256=DIGEST,
        candidate_sha256=DIGEST, verdict=verdict, finished=START,
        environment=Environment(nkiport="0", python="3", platform="p"),
    )  # fmt: skip


def envelope():
    statement = json.dumps({"predicate": evidence().model_dump(mode="json")}).encode()
    return json.dumps({"payload": base64.b64encode(statement).decode()}).encode()


def delivered_to(folder, candidate):
    """Write the model and everything that is delivered for it."""
    files_ = {"src/net.py": MODEL.encode()} | dict(
        files_of(Delivered(evidence(), candidate.encode(), envelope(), "# evidence\n"))
    )
    for name, data in files_.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder / "nki_kernels" / "net_1"


def test_evidence_is_read_from_its_envelope():
    assert evidence_in(envelope()) == evidence()


def test_a_right_kernel_agrees_on_every_draw(tmp_path):
    folder = delivered_to(tmp_path, RIGHT)

    assert (
        rerun_files(
            evidence=folder / "evidence.json", candidate=folder / "kernel.py", tree=tmp_path
        )
        == ()
    )


def test_a_kernel_that_drops_the_weight_is_told_where(tmp_path):
    folder = delivered_to(tmp_path, WRONG)

    problems = rerun_files(
        evidence=folder / "evidence.json", candidate=folder / "kernel.py", tree=tmp_path
    )

    assert problems
    assert "elements differ, first at" in problems[0]


def test_a_kernel_that_does_not_compile_says_so(tmp_path):
    folder = delivered_to(tmp_path, "x = 1\n")

    assert rerun_files(
        evidence=folder / "evidence.json", candidate=folder / "kernel.py", tree=tmp_path
    )


@pytest.mark.parametrize(("candidate", "code"), [(RIGHT, 0), (WRONG, 1)])
def test_the_delivered_test_runs_under_pytest(tmp_path, candidate, code):
    folder = delivered_to(tmp_path, candidate)

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(Path.cwd()), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip

    assert done.returncode == code, done.stdout
    assert ("1 passed" if code == 0 else "elements differ") in done.stdout
