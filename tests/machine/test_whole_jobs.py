"""Jobs through the checked-in machine with every step, both gates and the worker as they are."""

import subprocess

import pytest

from nkiport.contracts import keys
from nkiport.jobs.ledger import entries, spent
from tests.machine.whole import ScriptedModel, Whole

MODULE = """import torch


class {name}(torch.nn.Module):
    def forward(self, x):
        return x * {factor}


def get_inputs():
    return [torch.randn(64, 32)]
"""
DOUBLE = {"double.py": MODULE.format(name="Double", factor=2)}
KERNEL = """import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def scaled(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.multiply(nl.load(x), {factor}))
    return out
"""
RIGHT = KERNEL.format(factor="2.0")
WRONG = KERNEL.format(factor="3.0")
BROKEN = RIGHT.replace("nl.multiply", "nl.multiplied")


def with_model(*sources, **requirements):
    model = ScriptedModel(*sources)
    request = {"backend": "claude", "requirements": requirements}
    return model, Whole(DOUBLE, request, {"claude": model})


def test_a_kernel_that_the_recipes_cover_is_accepted_at_once_and_its_patch_applies(tmp_path):
    whole = Whole(DOUBLE, {"backend": "recipes"}).run(tmp_path)

    assert whole.job().status == "delivered"
    (attempt,) = whole.attempts("double")
    assert (attempt.backend, attempt.accepted) == ("recipes", True)
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "double.py").write_text(DOUBLE["double.py"])
    (tree / "a.patch").write_bytes(whole.artifacts.get(keys.patch(whole.job_id)))
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    subprocess.run(["git", "apply", "a.patch"], cwd=tree, check=True)
    kernel = tree / "nki_kernels" / "double" / "kernel.py"
    candidate = whole.artifacts.get(keys.candidate(whole.job_id, "double", 1))
    assert kernel.read_bytes() == candidate
    assert len(whole.told.links) == 2


def test_a_compile_error_goes_back_to_the_model_and_the_next_kernel_is_accepted(tmp_path):
    model, whole = with_model(BROKEN, RIGHT)

    whole.run(tmp_path)

    first, second = whole.attempts("double")
    assert (first.failed_stage, second.accepted) == ("compile", True)
    assert "multiplied" in model.asked[1].user
    calls = [entry.call_id for entry in entries(whole.records, whole.job_id)]
    assert calls == ["0001-claude", "0002-claude"]
    assert whole.job().status == "delivered"


def test_numbers_that_differ_until_the_turn_limit_abandon_the_kernel(tmp_path):
    _, whole = with_model(*[WRONG + f"# {n}\n" for n in range(4)], max_turns=2)

    whole.run(tmp_path)

    assert [attempt.failed_stage for attempt in whole.attempts("double")] == ["numbers"] * 2
    kernel = whole.kernels()["double"]
    assert kernel.status == "abandoned"
    assert "2 of 2 turns" in kernel.reason
    assert whole.job().status == "nothing_accepted"


@pytest.mark.parametrize("gate", ["scope", "requirements"])
def test_a_rejected_gate_ends_the_job_with_nothing_made(gate, tmp_path):
    whole = Whole(DOUBLE, {"backend": "recipes"}, answers={gate: "rejected"}).run(tmp_path)

    assert whole.job().status == "gate_rejected"
    assert gate in whole.job().reason
    assert whole.attempts("double") == []
    assert whole.artifacts.keys(keys.patch(whole.job_id)) == []


@pytest.mark.parametrize("gate", ["scope", "requirements"])
def test_a_gate_that_nobody_answers_expires_with_nothing_made(gate, tmp_path):
    whole = Whole(
        DOUBLE, {"backend": "recipes"}, answers={gate: None}, hurry={"gate_seconds": 2}
    ).run(tmp_path)

    assert whole.job().status == "gate_expired"
    assert gate in whole.job().reason
    assert whole.attempts("double") == []


@pytest.mark.parametrize("step", ["capture", "verify"])
def test_a_worker_that_dies_is_replaced_and_its_work_recorded_once(step, tmp_path):
    whole = Whole(DOUBLE, {"backend": "recipes"}, dies_at=step, hurry={"heartbeat_seconds": 3}).run(
        tmp_path
    )

    assert whole.worked == 2
    assert whole.job().status == "delivered"
    assert len(whole.attempts("double")) == 1
    assert whole.job().worker_seconds > 0


def test_a_spend_cap_stops_before_the_call_that_would_pass_it(tmp_path):
    model, whole = with_model(BROKEN, RIGHT, spend_cap_usd=0.47)

    whole.run(tmp_path)

    assert len(model.asked) == 1
    assert 0 < spent(whole.records, whole.job_id) <= 0.47
    assert whole.kernels()["double"].status == "abandoned"
    assert "spend cap" in whole.kernels()["double"].reason


def test_one_kernel_of_three_is_abandoned_and_the_others_are_delivered(tmp_path):
    files = {
        f"{name}.py": MODULE.format(name=name.title(), factor=factor)
        for name, factor in (("double", 2), ("triple", 3), ("zeta", "1"))
    }
    files["zeta.py"] = files["zeta.py"].replace("x * 1", "torch.special.zeta(x, 2.0)")

    whole = Whole(files, {"backend": "recipes"}).run(tmp_path)

    assert {name: kernel.status for name, kernel in whole.kernels().items()} == {
        "double": "accepted", "triple": "accepted", "zeta": "abandoned",
    }  # fmt: skip
    assert whole.job().status == "delivered"
    patch = whole.artifacts.get(keys.patch(whole.job_id)).decode()
    assert "nki_kernels/triple/kernel.py" in patch
    assert "nki_kernels/zeta" not in patch
