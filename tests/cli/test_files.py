"""The commands that need no service, run as people run them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
NKIPORT = Path(sys.executable).with_name("nkiport")
TASK = ROOT / "bench" / "tasks" / "softmax.py"


def nkiport(*arguments, cwd=ROOT):
    env = {**os.environ, "COLUMNS": "200", "NKIPORT_URL": ""}
    command = [str(NKIPORT), *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=120
    )


def test_a_reference_becomes_a_kernel_that_judge_accepts_and_a_spoilt_one_it_rejects(tmp_path):
    made = nkiport("migrate", TASK, "--out", tmp_path)
    kernel = tmp_path / "softmax_nki.py"
    spoilt = tmp_path / "spoilt.py"

    assert made.returncode == 0, made.stderr
    right = kernel.read_text()
    wrong = right.replace("nl.max", "nl.min")
    assert wrong != right
    spoilt.write_text(wrong)
    assert "functional evidence, not hardware" in made.stdout
    judged = nkiport("judge", "--reference", TASK, "--candidate", kernel, "--json")
    verdict = json.loads(judged.stdout)
    assert (judged.returncode, verdict["outcome"], verdict["level"]) == (
        0, "accepted", "functional",
    )  # fmt: skip
    assert {c["stage"] for c in verdict["checks"]} == {
        "policy", "compile", "numbers", "plausibility", "performance",
    }  # fmt: skip
    refused = nkiport("judge", "--reference", TASK, "--candidate", spoilt, "--json")
    assert refused.returncode == 1
    assert json.loads(refused.stdout)["outcome"] == "rejected"


def test_discover_lists_what_is_there_for_people_and_for_programs():
    told = nkiport("discover", "examples")
    listed = json.loads(nkiport("discover", "examples", "--json").stdout)

    assert "3 kernels in 3 files" in told.stdout
    assert len(listed["kernels"]) == 3


def test_check_names_each_finding_and_its_exit_code_says_whether_there_are_any(tmp_path):
    (tmp_path / "bad.py").write_text("import os\n")
    bad = nkiport("check", tmp_path / "bad.py", "--strict")

    assert bad.returncode == 1
    assert "import of 'os'" in bad.stdout
    kernel = ROOT / "tests/unit/lowering/golden/softmax.py"
    assert nkiport("check", kernel).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("discover", "/nowhere"), "there is no folder '/nowhere'"),
        (("migrate", "/nowhere.py"), "there is no reference file '/nowhere.py'"),
        (("migrate", TASK, "--seconds", "1"), "it ran longer than 1 s"),
        (("migrate", TASK, "--target", "trn9"), "there is no target 'trn9'"),
        (("jobs",), "there is no API to talk to; run 'nkiport local up', or set NKIPORT_URL"),
        (("submit", "https://example.com/x.git"), "there is no API to talk to"),
    ],
)
def test_trouble_is_one_sentence_on_stderr_and_exit_code_2(arguments, said):
    done = nkiport(*arguments)

    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_the_api_is_described_without_one():
    assert json.loads(nkiport("openapi").stdout)["info"]["title"] == "nkiport"


KERNEL = ROOT / "tests/unit/lowering/golden/softmax.py"


def test_a_kernel_is_simulated_on_drawn_inputs_and_its_outputs_are_kept(tmp_path):
    done = nkiport("simulate", KERNEL, "--inputs", "x=256x1024", "--out", tmp_path / "out.npz")
    again = nkiport("simulate", KERNEL, "--inputs", "x=256x1024", "--json")

    assert done.returncode == 0, done.stderr
    rows = np.load(tmp_path / "out.npz")["arr_0"]
    np.testing.assert_allclose(rows.sum(1), np.ones(256), rtol=1e-5)
    assert json.loads(again.stdout)["outputs"] == [{"shape": [256, 1024], "dtype": "float32"}]


def test_an_estimate_says_that_it_is_one_and_its_schedule_can_be_looked_at(tmp_path):
    picture, trace = tmp_path / "t.svg", tmp_path / "t.json"
    told = nkiport("estimate", KERNEL, "--inputs", "x=256x1024", "--svg", picture, "--trace", trace)

    assert "estimated" in told.stdout
    events = [e for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X"]
    loads = [e for e in events if e["name"] == "nl.load"]
    assert len(loads) == 2
    assert all(event["dur"] > 0 and event["args"]["line"] > 0 for event in events)
    assert ET.fromstring(picture.read_text()).tag.endswith("svg")  # noqa: S314 - our own file


def test_a_code_is_explained_and_a_misspelt_one_gets_near_matches():
    told = nkiport("check", "--explain", "err_start_partition")
    wrong = nkiport("check", "--explain", "err_start_partitions")

    assert "multiple of 32" in told.stdout
    assert "err_start_partition" in wrong.stderr


def test_an_input_that_is_none_is_one_sentence():
    wrong = nkiport("simulate", KERNEL, "--inputs", "x=big")

    assert wrong.returncode == 2
    assert "NAME=4x128:float32" in wrong.stderr
