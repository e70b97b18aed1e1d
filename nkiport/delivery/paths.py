"""Where a patch may write: inside the tree, through no link, and not to what runs elsewhere."""

import io
import stat
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from nkiport.contracts.errors import UnsafePath

PROTECTED_FOLDERS = frozenset({
    ".git", ".github", ".gitlab", ".circleci", ".buildkite", ".husky", ".hooks", ".devcontainer",
    ".vscode", ".azure", ".aws", ".ci",
})  # fmt: skip
PROTECTED_FILES = frozenset({
    ".gitattributes", ".gitmodules", ".gitlab-ci.yml", ".travis.yml", ".drone.yml",
    ".appveyor.yml", "appveyor.yml", ".pre-commit-config.yaml", "azure-pipelines.yml",
    "bitbucket-pipelines.yml", "buildspec.yml", "cloudbuild.yaml", "codeowners", "jenkinsfile",
    "conftest.py", "setup.py", "sitecustomize.py", "usercustomize.py", "noxfile.py", "tox.ini",
})  # fmt: skip
"""What a host or a tool runs or obeys by its name alone; compared in lower case."""


@dataclass(frozen=True)
class Tree:
    """The files and the links of the source that a patch is made for."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    links: frozenset[str] = frozenset()

    @classmethod
    def from_zip(cls, data: bytes, under: str) -> "Tree":
        """Read the files whose path starts with ``under``, and every link's path."""
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            links = {i.filename for i in infos if stat.S_ISLNK(i.external_attr >> 16)}
            kept = {
                info.filename: archive.read(info)
                for info in infos
                if info.filename.startswith(under)
                and not info.is_dir()
                and info.filename not in links
            }
        return cls(kept, frozenset(links))


def check_path(path: str, tree: Tree) -> str:
    """Return the path if a patch may write it; raise ``UnsafePath`` with every reason if not."""
    wrong = [*_shape(path), *_protected(path), *_through_links(path, tree)]
    if wrong:
        raise UnsafePath(
            f"a patch may not write '{path}': {'; '.join(wrong)}; "
            "deliver to a relative path inside the repository, outside of CI and git folders"
        )
    return path


def _shape(path: str) -> Iterator[str]:
    parts = path.split("/")
    if not path or path.startswith(("/", "~")) or ":" in parts[0]:
        yield "it is absolute or empty"
    if ".." in parts:
        yield "it leaves the tree"
    if any(part in {"", "."} for part in parts[bool(path.startswith("/")) :]):
        yield "it has an empty or '.' part"
    if "\\" in path or any(ord(char) < ord(" ") or ord(char) > ord("~") for char in path):
        yield "it has a backslash, or something that is not printable ASCII"


def _protected(path: str) -> Iterator[str]:
    # Windows drops trailing dots and spaces, and knows .git as git~1; macOS ignores case.
    parts = [part.lower().rstrip(". ") for part in path.split("/")]
    for part in parts:
        if part in PROTECTED_FOLDERS or part.startswith("git~"):
            yield f"'{part}' is protected"
    if parts[-1] in PROTECTED_FILES:
        yield f"'{parts[-1]}' is protected"


def _through_links(path: str, tree: Tree) -> Iterator[str]:
    pure = PurePosixPath(path)
    for place in (pure, *pure.parents):
        if str(place) in tree.links:
            yield f"'{place}' is a link"
