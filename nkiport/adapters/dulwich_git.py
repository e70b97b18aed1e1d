"""Fetches a repository at a commit, without a git binary."""

from collections.abc import Callable
from pathlib import Path
from stat import S_ISREG
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from dulwich.client import get_transport_and_path
from dulwich.errors import GitProtocolError, NotGitRepository
from dulwich.object_store import iter_tree_contents
from dulwich.objects import Blob, Commit, ObjectID
from dulwich.repo import Repo

from nkiport.contracts.errors import BadSource, SourceTooLarge
from nkiport.contracts.jobs import GitSource

Wants = Callable[..., list[ObjectID]]


class DulwichGit:
    """Fetches over the schemes that are allowed; files alone are written, no links, no hooks."""

    def __init__(self, schemes: tuple[str, ...] = ("https",)) -> None:
        self._schemes = schemes

    def fetch(self, source: GitSource, into: Path, max_bytes: int) -> None:
        """Write the commit's files below ``into``; at most ``max_bytes`` are received, or kept."""
        scheme = urlsplit(source.url).scheme
        if scheme not in self._schemes:
            allowed = ", ".join(self._schemes)
            raise BadSource(f"'{source.url}' is fetched by '{scheme}'; allowed: {allowed}")
        with TemporaryDirectory() as folder:
            try:
                with Repo.init_bare(folder) as repository:
                    _receive(repository, source, max_bytes)
                    _write(repository, source, into, max_bytes)
            except (OSError, ValueError, KeyError, NotGitRepository) as error:
                raise BadSource(f"'{source.url}' cannot be fetched: {error}") from error
            except Exception as error:  # dulwich has no common root for what a server answers
                if type(error).__module__.split(".")[0] not in {"dulwich", "urllib3"}:
                    raise
                raise BadSource(f"'{source.url}' cannot be fetched: {error}") from error


def _receive(repository: Repo, source: GitSource, most: int) -> None:
    """The commit without its history; all of it from a server that offers only what refs name."""
    try:
        _pack(repository, source, most, lambda _refs, **_: [_name(source)], depth=1)
    except (GitProtocolError, OSError):  # a refused want closes the connection, or says so
        _pack(repository, source, most, repository.object_store.determine_wants_all, depth=None)


def _pack(repository: Repo, source: GitSource, most: int, wants: Wants, depth: int | None) -> None:
    """Receive one pack, and stop reading as soon as it is too large."""
    client, path = get_transport_and_path(source.url)
    file, commit, abort = repository.object_store.add_pack()

    def limited(data: bytes) -> int:
        if file.tell() + len(data) > most:
            raise SourceTooLarge(f"'{source.url}' sends more than {most} bytes")
        return file.write(data)

    try:
        client.fetch_pack(path, wants, repository.get_graph_walker(), limited, depth=depth)
    except BaseException:
        abort()
        raise
    commit()


def _name(source: GitSource) -> ObjectID:
    return ObjectID(source.commit.encode())


def _write(repository: Repo, source: GitSource, into: Path, max_bytes: int) -> None:
    name = _name(source)
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
