"""Shapes drawn anew: from the seed and the name alone, and within what the task can bear."""

import runpy

from hypothesis import given
from hypothesis import strategies as st

from bench.shapes import AS_WRITTEN, EDGES, drawn, rewritten

TASK = """
SIZES = {
    "reduced": {"batch": 2, "rows": 100, "width": 96, "heads": 3, "cin": 16, "cout": 16},
    "full": {"batch": 8, "rows": 512, "width": 768, "heads": 12, "cin": 64, "cout": 64},
}
SIZE = SIZES["reduced"]
"""
OWN = {"batch": 2, "rows": 100, "width": 96, "heads": 3, "cin": 16, "cout": 16}


def sizes(folder, seed, name="task"):
    file = folder / "task.txt"
    file.write_text(TASK)
    return runpy.run_path(str(rewritten({name: file}, drawn(seed), folder / "out")[name]))["SIZE"]


@given(seed=st.integers(0, 2**63))
def test_a_size_stays_near_its_own_divisible_as_it_was_and_equal_to_its_equals(
    seed, tmp_path_factory
):
    new = sizes(tmp_path_factory.mktemp("drawn"), seed)

    assert new.keys() == OWN.keys()
    assert new["heads"] == OWN["heads"]
    assert new["width"] % new["heads"] == 0
    assert new["cin"] == new["cout"]
    assert all(OWN[name] / 2 <= size <= OWN[name] * 2 for name, size in new.items())


def test_the_border_of_the_partitions_comes_up(tmp_path):
    rows = [sizes(tmp_path, seed)["rows"] for seed in range(60)]

    assert set(EDGES) <= set(rows)
    assert len(set(rows)) > 20


def test_a_seed_gives_the_same_shapes_again_and_others_to_another_task(tmp_path):
    first = sizes(tmp_path, 7)

    assert sizes(tmp_path, 7) == first
    assert sizes(tmp_path, 8) != first
    assert sizes(tmp_path, 7, name="other") != first


def test_tasks_as_written_are_the_files_themselves(tmp_path):
    tasks = {"a": tmp_path / "a.py"}

    assert rewritten(tasks, AS_WRITTEN, tmp_path / "out") == tasks
