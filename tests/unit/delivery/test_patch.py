"""What ``git apply`` makes of the patch is what was to be delivered."""

import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unidiff import PatchSet

from nkiport.contracts.errors import UnsafePath
from nkiport.delivery import Tree, patch_of

lines = st.lists(st.sampled_from([b"a", b"b", b"", b"\r", b"\x0c", b"--- x", b"+++ y"]), max_size=8)
texts = lines.map(b"\n".join)


def applied(tmp_path_factory, old, patch):
    """Apply the patch in a new folder and return every file."""
    folder = tmp_path_factory.mktemp("repo")
    for name, data in old.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],
        cwd=folder, input=patch, capture_output=True, check=False,
    )  # fmt: skip
    assert done.stderr == b""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def test_new_files_are_created_and_old_ones_changed(tmp_path_factory):
    old = {"nki_kernels/__init__.py": b"old\n", "same.py": b"same\n", "bare.txt": b"no newline"}
    new = {
        "nki_kernels/__init__.py": b"new\n",
        "same.py": b"same\n",
        "bare.txt": b"now\nwith two lines\n",
        "nki_kernels/a/kernel.py": b"x = 1\ny = 2",
    }

    patch = patch_of(new, Tree(old))

    assert applied(tmp_path_factory, old, patch) == new
    assert {f.path for f in PatchSet(patch.decode()).added_files} == {"nki_kernels/a/kernel.py"}
    assert b"same.py" not in patch


def test_what_is_there_already_needs_no_patch():
    assert patch_of({"a.py": b"x\n"}, Tree({"a.py": b"x\n"})) == b""


def test_one_unsafe_path_refuses_the_whole_patch():
    with pytest.raises(UnsafePath, match=r"\.github"):
        patch_of({"a.py": b"x\n", ".github/workflows/x.yml": b"y\n"}, Tree())


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(old=texts, new=texts.filter(bool))
def test_any_text_arrives_as_it_is(tmp_path_factory, old, new):
    before = {"f.py": old} if old else {}

    patch = patch_of({"f.py": new}, Tree(before))

    if patch:
        assert applied(tmp_path_factory, before, patch) == {"f.py": new}
    else:
        assert old == new
