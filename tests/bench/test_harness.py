"""The harness: every task once, whatever is killed in between."""

import json

import pytest
from typer.testing import CliRunner

from bench import TaskResult, run
from bench.__main__ import app
from bench.harness import tasks_of
from bench.results import append, read
from bench.shapes import AS_WRITTEN, AT_FULL, drawn
from nkiport.contracts.errors import BadRequest


class Killed(BaseException):
    """What a kill looks like from inside."""


class Runner:
    """Accepts every task, and counts them; dies after so many."""

    def __init__(self, dies_after=99):
        self.ran = []
        self.dies_after = dies_after

    def __call__(self, task, file, *, backend, seconds):
        if len(self.ran) == self.dies_after:
            raise Killed
        self.ran.append(task)
        return TaskResult(
            task=task, outcome="accepted", backend=backend, compiled=True, correct=True
        )


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / "suite"
    (folder / "deep").mkdir(parents=True)
    for name in ("a", "b", "deep/c"):
        (folder / f"{name}.py").write_text("class Model: ...\n")
    return folder


def test_a_killed_run_goes_on_where_it_stopped(suite, tmp_path):
    first, second = Runner(dies_after=1), Runner()
    with pytest.raises(Killed):
        run(suite, tmp_path / "out", runner=first)

    report = run(suite, tmp_path / "out", runner=second)

    assert sorted(first.ran + second.ran) == ["a", "b", "deep/c"]
    assert [task["task"] for task in report["tasks"]] == ["a", "b", "deep/c"]
    assert report["summary"]["correct"]["passed"] == 3
    assert json.loads((tmp_path / "out/report.json").read_text()) == report


def test_a_line_cut_short_is_run_again_and_spoils_no_other(suite, tmp_path):
    out = tmp_path / "out"
    run(suite, out, runner=Runner())
    lines = (out / "results.jsonl").read_bytes()
    (out / "results.jsonl").write_bytes(lines[:-20])
    again = Runner()

    run(suite, out, runner=again)

    assert len(again.ran) == 1
    assert set(read(out / "results.jsonl")) == {"a", "b", "deep/c"}


def test_an_ended_run_runs_nothing_again(suite, tmp_path):
    run(suite, tmp_path / "out", runner=Runner())
    again = Runner()

    run(suite, tmp_path / "out", runner=again, jobs=2)

    assert again.ran == []


def test_another_backend_or_changed_tasks_need_another_folder(suite, tmp_path):
    run(suite, tmp_path / "out", runner=Runner())
    with pytest.raises(BadRequest, match="give an empty folder"):
        run(suite, tmp_path / "out", backend="claude", runner=Runner())
    (suite / "a.py").write_text("class Model: 'changed'\n")

    with pytest.raises(BadRequest, match="give an empty folder"):
        run(suite, tmp_path / "out", runner=Runner())


def test_a_file_that_is_too_large_is_not_judged(suite, tmp_path):
    (suite / "a.py").write_text("#" * 2000)
    runner = Runner()

    report = run(suite, tmp_path / "out", runner=runner, max_bytes=1000)

    assert "a" not in runner.ran
    assert report["summary"]["not_judged"] == 1
    assert report["tasks"][0]["reason"] == "the file is larger than 1000 bytes"


def test_progress_counts_up(suite, tmp_path):
    seen = []

    run(suite, tmp_path / "out", runner=Runner(), progress=lambda *state: seen.append(state))

    assert [(done, total) for _, done, total in seen] == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("named", "shapes", "said"),
    [
        ("ten", AS_WRITTEN, "reduced"),
        ("ten", drawn(3), "drawn (3)"),
        (None, AS_WRITTEN, "its own"),
        (None, AT_FULL, "full"),
    ],
)
def test_a_report_says_at_which_shapes_it_ran(named, shapes, said, suite, tmp_path):
    report = run(named or suite, tmp_path / "out", shapes=shapes, runner=Runner())

    assert report["shapes"] == said
    assert f"{said} shapes" in (tmp_path / "out/report.html").read_text()


def test_drawn_shapes_resume_and_others_need_another_folder(tmp_path):
    only, out = ["L1_activations_014_relu_fp32"], tmp_path / "out"
    run("nkigen-150", out, shapes=drawn(3), only=only, runner=Runner())
    again = Runner()
    run("nkigen-150", out, shapes=drawn(3), only=only, runner=again)

    assert again.ran == []
    with pytest.raises(BadRequest, match="give an empty folder"):
        run("nkigen-150", out, shapes=drawn(4), only=only, runner=Runner())


def test_two_wishes_for_shapes_are_refused(tmp_path):
    asked = ["run", "--full", "--drawn", "3", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, asked)

    assert done.exit_code != 0
    assert "give one of them" in str(done.exception)


def test_a_folder_without_tasks_is_refused_with_what_is_allowed(tmp_path):
    with pytest.raises(BadRequest, match="get_init_inputs, or one of: ten"):
        tasks_of(tmp_path)


def test_results_come_back_as_they_were_written(tmp_path):
    one = TaskResult(task="x", outcome="abandoned", backend="recipes", roofline_share=0.25)

    append(tmp_path / "r.jsonl", one)

    assert read(tmp_path / "r.jsonl") == {"x": one}
