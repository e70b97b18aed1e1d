"""Fetches a repository at a commit, without a git binary."""

from pathlib import Path
from stat import S_ISREG
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from dulwich import porcelain
from dulwich.errors import NotGitRepository
from dulwich.object_store import iter_tree_contents
from dulwich.objects import Blob, Commit, ObjectID
from dulwich.repo import Repo

from nkiport.contracts.errors import BadSource, SourceTooLarge
from nkiport.contracts.jobs import GitSource


class DulwichGit:
    """Clones over the schemes that are allowed; files alone are written, no links, no hooks."""

    def __init__(self, schemes: tuple[str, ...] = ("https",)) -> None:
        self._schemes = schemes

    def fetch(self, source: GitSource, into: Path, max_bytes: int) -> None:
        """Write the commit's files below ``into``."""
        scheme = urlsplit(source.url).scheme
        if scheme not in self._schemes:
            allowed = ", ".join(self._schemes)
            raise BadSource(f"'{source.url}' is fetched by '{scheme}'; allowed: {allowed}")
        with TemporaryDirectory() as folder:
            try:
                cloned = porcelain.clone(
                    source.url, folder, bare=True, errstream=porcelain.NoneStream()
                )
                with cloned as repository:
                    _write(repository, source, into, max_bytes)
            except (OSError, ValueError, KeyError, NotGitRepository, porcelain.Error) as error:
                raise BadSource(f"'{source.url}' cannot be fetched: {error}") from error
            except Exception as error:  # dulwich has no common root for what a server answers
                if type(error).__module__.split(".")[0] not in {"dulwich", "urllib3"}:
                    raise
                raise BadSource(f"'{source.url}' cannot be fetched: {error}") from error


def _write(repository: Repo, source: GitSource, into: Path, max_bytes: int) -> None:
    name = ObjectID(source.commit.encode())
    if name not in repository.object_store:
        raise BadSource(f"'{source.url}' has no commit {source.commit}")
    commit = repository[name]
    if not isinstance(commit, Commit):
        raise BadSource(f"{source.commit} of '{source.url}' is no commit")
    left = max_bytes
    for entry in iter_tree_contents(repository.object_store, commit.tree):
        if not S_ISREG(entry.mode):
            continue
        blob = repository[entry.sha]
        if not isinstance(blob, Blob):
            continue
        left -= blob.raw_length()
        if left < 0:
            raise SourceTooLarge(f"'{source.url}' has more than {max_bytes} bytes of files")
        _file(into, entry.path.decode("utf-8", "replace"), blob.data)


def _file(into: Path, name: str, data: bytes) -> None:
    target = (into / name).resolve()
    if not target.is_relative_to(into.resolve()):
        raise BadSource(f"'{name}' leaves the source tree")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
