"""Deliver a patch as a branch of a local repository; what is checked out there stays as it is."""

import os
import subprocess
import tempfile
from pathlib import Path

from nkiport.contracts.errors import BadRequest, DeliveryFailed

AUTHOR = {"GIT_AUTHOR_NAME": "nkiport", "GIT_AUTHOR_EMAIL": "nkiport@localhost",
          "GIT_COMMITTER_NAME": "nkiport", "GIT_COMMITTER_EMAIL": "nkiport@localhost"}  # fmt: skip


def deliver_branch(repository: Path, job_id: str, patch: bytes, title: str) -> str:
    """Commit the patch on ``nkiport/<job>``, from the repository's HEAD; return the branch.

    Raises ``BadRequest`` if there is no repository, ``DeliveryFailed`` if the patch does not
    apply or the branch is there already.
    """
    if not (repository / ".git").exists():
        raise BadRequest(f"'{repository}' is no git repository")
    branch = f"nkiport/{job_id}"
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        _git(repository, "worktree", "add", "--quiet", "-b", branch, str(tree), "HEAD")
        try:
            _git(tree, "apply", "--index", "-", given=patch)
            _git(tree, "commit", "--quiet", "--no-verify", "-m", title)
        except DeliveryFailed:
            _git(repository, "worktree", "remove", "--force", str(tree))
            _git(repository, "branch", "-D", branch)
            raise
        _git(repository, "worktree", "remove", "--force", str(tree))
    return branch


def _git(folder: Path, *arguments: str, given: bytes | None = None) -> None:
    # Hooks belong to whoever wrote the repository, and are not run.
    command = ["git", "-c", "core.hooksPath=/dev/null", *arguments]
    done = subprocess.run(
        command, cwd=folder, input=given, capture_output=True, check=False, env=os.environ | AUTHOR
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise DeliveryFailed(f"git {arguments[0]} in '{folder}': {said}")
