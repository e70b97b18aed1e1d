"""EmitDiff writes evidence once and a patch that git takes; Deliver offers it."""

import hashlib
import io
import runpy
import stat
import subprocess
import zipfile
from types import SimpleNamespace

import pytest
import torch
from securesystemslib.signer import CryptoSigner

from nkiport.contracts import keys
from nkiport.contracts.errors import UnsafePath
from nkiport.contracts.judgement import Check, StageReport, Verdict
from nkiport.contracts.steps import DeliverRequest, EmitDiffRequest, GenerateRequest, PlanRequest
from nkiport.delivery import evidence_in
from nkiport.generation import set_up
from nkiport.jobs.deliver import deliver
from nkiport.jobs.emit_diff import emit_diff
from nkiport.jobs.generate import generate
from nkiport.jobs.plan import plan
from tests.unit.jobs.loop import JOB, KERNEL, SOURCE, add_kernel, packed, world


@pytest.fixture
def signer():
    return CryptoSigner.generate_ed25519()


class Forge:
    """Takes every pull request, and remembers it."""

    def __init__(self):
        self.opened = []

    def open_pull_request(self, **asked):
        self.opened.append(asked)
        return "https://github.com/o/r/pull/1"


def accept(made, kernel_id=KERNEL, outcome="accepted"):
    """Bring a kernel through one attempt that the judge accepts."""
    planned = plan(PlanRequest(job_id=JOB, kernel_id=kernel_id), **made.ports, backends=set_up())
    request = GenerateRequest(job_id=JOB, kernel_id=kernel_id, attempt=1, backend=planned.backend)
    key = generate(request, **made.ports, backends=set_up()).candidate_key
    check = Check(name="numbers", stage="numbers", result="passed", detail="0 of 32 differ")
    common = {"job_id": JOB, "kernel_id": kernel_id, "attempt": 1, "level": "functional"}
    report = StageReport(**common, step="verify", engine="functional 1", checks=(check,))
    digest = hashlib.sha256(made.artifacts.get(key)).hexdigest()
    verdict = Verdict(**common, outcome=outcome, candidate_sha256=digest, checks=(check,))
    at = (JOB, kernel_id, 1)
    made.artifacts.put(keys.report(*at, "verify"), report.model_dump_json().encode())
    made.artifacts.put(keys.verdict(*at), verdict.model_dump_json().encode())
    kernel = made.kernel(kernel_id)
    made.records.replace(kernel.model_copy(update={"status": outcome, "accepted_attempt": 1}))


def emitted(made, signer):
    return emit_diff(EmitDiffRequest(job_id=JOB), **made.ports, signer=signer)


def checked_out(made, folder):
    """Unpack the job's source as a repository and apply the patch to it."""
    with zipfile.ZipFile(io.BytesIO(made.artifacts.get(keys.source(JOB)))) as archive:
        archive.extractall(folder)
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    patch = made.artifacts.get(keys.patch(JOB))
    subprocess.run(["git", "apply", "-"], cwd=folder, input=patch, check=True)
    return folder / "nki_kernels" / "relu_1"


def test_the_patch_brings_kernel_wrapper_test_and_evidence(signer, tmp_path):
    made = world()
    accept(made)

    result = emitted(made, signer)

    assert (result.accepted, result.patch_key) == (1, keys.patch(JOB))
    folder = checked_out(made, tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == [
        "__init__.py", "evidence.json", "evidence.md", "kernel.py", "test_relu_1.py", "wrapper.py",
    ]  # fmt: skip
    candidate = made.artifacts.get(keys.candidate(JOB, KERNEL, 1))
    assert (folder / "kernel.py").read_bytes() == candidate
    assert "functional" in (folder / "evidence.md").read_text().splitlines()[0]
    assert (tmp_path / "model.py").read_bytes() == SOURCE


def test_the_evidence_says_what_was_measured_and_reveals_the_seed(signer):
    made = world()
    accept(made)

    emitted(made, signer)

    found = evidence_in(made.artifacts.get(keys.evidence(JOB, KERNEL, "json")))
    assert (found.level, found.engine, found.backend) == ("functional", "functional 1", "recipes")
    assert (found.attempts, found.seed.seed, found.usd) == (1, 7, 0.0)
    assert found.candidate_sha256 == made.attempt(1).candidate_sha256
    revealed = hashlib.sha256(found.seed.model_dump_json().encode()).hexdigest()
    assert found.oracle.seed_commitment == revealed


def test_the_same_job_twice_gives_the_same_files(signer):
    made = world()
    accept(made)
    first = emitted(made, signer)
    kept = {key: made.artifacts.get(key) for key in made.artifacts.keys(f"jobs/{JOB}/")}
    made.clock.pass_minutes(5)

    again = emitted(made, CryptoSigner.generate_ed25519())

    assert again == first
    assert {key: made.artifacts.get(key) for key in kept} == kept


def test_a_job_without_an_accepted_kernel_says_why(signer):
    made = world()
    kernel = made.kernel()
    made.records.replace(
        kernel.model_copy(update={"status": "abandoned", "reason": "30 minutes are over"})
    )

    result = emitted(made, signer)

    assert result.accepted == 0
    assert result.reason == "0 of 1 kernels were accepted; Relu: 30 minutes are over"
    assert made.artifacts.keys(keys.patch(JOB)) == []


def test_an_abandoned_kernel_does_not_hold_up_the_others(signer, tmp_path):
    made = world()
    add_kernel(made, "other-2")
    accept(made)

    result = emitted(made, signer)

    assert result.reason == "1 of 2 kernels were accepted"
    checked_out(made, tmp_path)
    assert not (tmp_path / "nki_kernels" / "other_2").exists()
    assert "## Not delivered" in made.artifacts.get(keys.report_of_job(JOB)).decode()


def test_a_slow_kernel_carries_its_warning_in_the_first_line(signer, tmp_path):
    made = world()
    accept(made, outcome="accepted_slow")

    emitted(made, signer)

    first = (checked_out(made, tmp_path) / "evidence.md").read_text().splitlines()[0]
    assert "short of its speed budget" in first


def test_a_second_migration_changes_what_the_first_one_wrote(signer, tmp_path):
    made = world()
    old = {"model.py": SOURCE, "nki_kernels/relu_1/kernel.py": b"old = 1\n"}
    made.artifacts.put(keys.source(JOB), packed(old))
    accept(made)

    emitted(made, signer)

    candidate = made.artifacts.get(keys.candidate(JOB, KERNEL, 1))
    assert (checked_out(made, tmp_path) / "kernel.py").read_bytes() == candidate


def test_a_source_that_has_a_link_where_files_go_is_refused(signer):
    made = world()
    link = zipfile.ZipInfo("nki_kernels")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    made.artifacts.put(keys.source(JOB), packed({link: b"/etc"}))
    accept(made)

    with pytest.raises(UnsafePath, match="'nki_kernels' is a link"):
        emitted(made, signer)


def test_names_from_the_source_cannot_break_out_of_the_files(signer, tmp_path):
    made = world()
    kernel = made.kernel()
    made.records.replace(kernel.model_copy(update={"name": 'X"""\nimport os\n@everyone'}))
    accept(made)
    made.artifacts.get(keys.source(JOB))

    emitted(made, signer)

    folder = checked_out(made, tmp_path)
    for file in folder.glob("*.py"):
        code = compile(file.read_text(), str(file), "exec")
        assert "os" not in code.co_names
    assert "@everyone" not in made.artifacts.get(keys.report_of_job(JOB)).decode()


class Original(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, x):
        return self.norm(x) + 1


def test_the_wrapper_takes_the_originals_place_where_there_is_no_device(signer, tmp_path):
    made = world()
    accept(made)
    emitted(made, signer)
    wrapper = runpy.run_path(str(checked_out(made, tmp_path) / "wrapper.py"))
    original = Original()
    x = torch.randn(3, 4)

    torch.testing.assert_close(wrapper["Wrapper"](original)(x), original(x))


@pytest.mark.parametrize("more", [0, 1])
def test_the_wrapper_launches_the_kernel_for_the_shapes_it_was_judged_with_alone(
    signer, tmp_path, more
):
    made = world()
    accept(made)
    emitted(made, signer)
    found = runpy.run_path(str(checked_out(made, tmp_path) / "wrapper.py"))
    there = [
        SimpleNamespace(device=SimpleNamespace(type="xla"), shape=(shape[0] + more, *shape[1:]))
        for shape in found["SHAPES"]
    ]
    wrapped = found["Wrapper"](lambda *inputs: "the original")

    if more:
        assert wrapped(*there) == "the original"
    else:
        # Run alone, the file has no package to find its kernel in.
        with pytest.raises(TypeError, match="package"):
            wrapped(*there)


def test_without_a_repository_the_patch_is_the_delivery(signer):
    made = world()
    accept(made)
    emitted(made, signer)

    result = deliver(DeliverRequest(job_id=JOB), **made.stores, forge=None)

    assert (result.outcome, result.pull_request) == ("delivered", None)
    assert keys.patch(JOB) in result.reason


def test_a_repository_gets_a_draft_that_says_it_is_not_hardware(signer):
    made, forge = world(repository="owner/repo"), Forge()
    accept(made)
    emitted(made, signer)

    result = deliver(DeliverRequest(job_id=JOB), **made.stores, forge=forge)

    (asked,) = forge.opened
    assert result.pull_request == "https://github.com/o/r/pull/1"
    assert result.branch == asked["branch"] == f"nkiport/{JOB}"
    assert (asked["repository"], asked["base"], asked["draft"]) == ("owner/repo", "main", True)
    assert asked["body"].splitlines()[0] == (
        "Draft: not verified on hardware; functional evidence only."
    )
    assert "nki_kernels/relu_1/kernel.py" in asked["files"]


def test_a_repository_without_a_token_fails_and_keeps_the_patch(signer):
    made = world(repository="owner/repo")
    accept(made)
    emitted(made, signer)

    result = deliver(DeliverRequest(job_id=JOB), **made.stores, forge=None)

    assert result.outcome == "failed"
    assert "no GitHub token is set up" in result.reason
    assert keys.patch(JOB) in result.reason
