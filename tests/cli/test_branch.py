"""A patch as a branch of a local repository."""

import subprocess

import pytest

from nkiport.cli.branch import deliver_branch
from nkiport.contracts.errors import BadRequest, DeliveryFailed
from nkiport.delivery import Tree, patch_of

PATCH = patch_of({"nki_kernels/k.py": b"x = 1\n"}, Tree())


def git(folder, *arguments):
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=folder, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.py").write_text("x = 1\n")
    git(tmp_path, "add", "a.py")
    git(tmp_path, "commit", "-qm", "one")
    return tmp_path


def test_the_branch_holds_the_patch_and_what_is_checked_out_stays(repository):
    branch = deliver_branch(repository, "job-1", PATCH, "kernels")

    assert git(repository, "show", f"{branch}:nki_kernels/k.py") == "x = 1"
    assert git(repository, "rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "worktree", "list").count("\n") == 0


def test_a_patch_that_does_not_apply_leaves_no_branch(repository):
    with pytest.raises(DeliveryFailed, match="git apply"):
        deliver_branch(repository, "job-1", PATCH.replace(b"+x", b"x"), "kernels")

    assert git(repository, "branch", "--list") == "* main"


def test_a_branch_that_is_there_is_not_moved(repository):
    deliver_branch(repository, "job-1", PATCH, "kernels")
    with pytest.raises(DeliveryFailed, match="already exists"):
        deliver_branch(repository, "job-1", PATCH, "kernels")


def test_a_folder_without_a_repository_is_named(tmp_path):
    with pytest.raises(BadRequest, match="is no git repository"):
        deliver_branch(tmp_path, "job-1", PATCH, "kernels")
