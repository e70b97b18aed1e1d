"""Processes that outlive their command: all of a group ends, and nobody else's does."""

import os
import sys

import pytest

from nkiport.local import process, stacks

FAMILY = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open("ready.tmp", "w").write(str(child.pid))
import os; os.rename("ready.tmp", "ready")
time.sleep(60)
"""


@pytest.fixture
def family(tmp_path):
    """A process of ours, and the process that it started."""
    command = [sys.executable, "-c", FAMILY, "a-word-of-ours"]
    pid = process.start(command, cwd=tmp_path, env=dict(os.environ), log=tmp_path / "log")
    ready = tmp_path / "ready"
    while not ready.exists():
        assert process.alive(pid), (tmp_path / "log").read_text()
    yield pid, int(ready.read_text())
    process.end(pid)


def test_a_process_ends_with_all_that_it_started(family):
    parent, child = family
    assert process.alive(parent, "a-word-of-ours")

    process.end(parent, "a-word-of-ours")

    assert not process.alive(parent)
    assert not process.alive(child)


def test_a_number_that_is_another_process_by_now_is_left_alone(family):
    parent, child = family
    assert not process.alive(parent, "somebody-else")

    process.end(parent, "somebody-else")

    assert process.alive(parent)
    assert process.alive(child)


def test_ending_what_has_ended_does_nothing(family):
    parent, _ = family
    process.end(parent)

    process.end(parent)

    assert not process.alive(parent)


def test_a_deployment_that_died_is_forgotten_with_its_files_and_strangers_live_on(family, tmp_path):
    parent, child = family
    folder = tmp_path / "nkiport-x"
    folder.mkdir()
    state = stacks.State(
        url="u", token="t", endpoint="e", folder=str(folder), emulator_pid=parent,
        worker_pids=(child,), outputs={}, seconds=1,
    )  # fmt: skip
    (tmp_path / "state.json").write_text(state.model_dump_json())

    assert stacks.status(home=tmp_path) is None

    assert not folder.exists()
    assert not (tmp_path / "state.json").exists()
    assert not stacks.down(home=tmp_path)
    assert process.alive(parent)
    assert process.alive(child)
