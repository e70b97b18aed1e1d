"""A repository at a commit, fetched from a local server."""

import secrets
import threading
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from dulwich import porcelain
from dulwich.repo import Repo
from dulwich.server import DictBackend
from dulwich.web import make_wsgi_chain

from nkiport.adapters.dulwich_git import DulwichGit
from nkiport.contracts.errors import BadSource, SourceTooLarge
from nkiport.contracts.jobs import GitSource

HISTORY = 10_000
"""Bytes of a file that the newest commit no longer has."""
WIDE = 50_000
"""Bytes of another that pack to almost nothing."""


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        """Tests read what was fetched."""


@pytest.fixture
def remote(tmp_path):
    folder = tmp_path / "remote"
    folder.mkdir()
    (folder / "kernel.py").write_text("x = 1\n")
    (folder / "link.py").symlink_to("/etc/passwd")
    with Repo.init(folder) as repository:
        (folder / "once.bin").write_bytes(secrets.token_bytes(HISTORY))
        (folder / "wide.txt").write_text("0" * WIDE)
        every = [str(folder / name) for name in ("kernel.py", "link.py", "once.bin", "wide.txt")]
        porcelain.add(repository, every)
        commit = porcelain.commit(repository, b"one", author=b"a <a@b>", committer=b"a <a@b>")
        (folder / "kernel.py").write_text("x = 2\n")
        (folder / "once.bin").unlink()
        (folder / "wide.txt").unlink()
        porcelain.add(repository, every)
        tip = porcelain.commit(repository, b"two", author=b"a <a@b>", committer=b"a <a@b>")
        app = make_wsgi_chain(DictBackend({"/": repository}))
        server = make_server("127.0.0.1", 0, app, handler_class=Quiet)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", commit.decode(), tip.decode()
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_files_of_the_commit_are_there_and_no_link_is(remote, tmp_path):
    url, commit, _ = remote
    into = tmp_path / "tree"

    DulwichGit(("http",)).fetch(GitSource(url=url, commit=commit), into, 2 * WIDE)

    assert (into / "kernel.py").read_text() == "x = 1\n"
    assert sorted(path.name for path in into.iterdir()) == ["kernel.py", "once.bin", "wide.txt"]


def test_the_history_of_the_newest_commit_is_not_fetched(remote, tmp_path):
    url, _, tip = remote

    DulwichGit(("http",)).fetch(GitSource(url=url, commit=tip), tmp_path / "tree", HISTORY)

    assert [path.name for path in (tmp_path / "tree").iterdir()] == ["kernel.py"]


def test_a_server_that_sends_more_than_allowed_is_not_listened_to(remote, tmp_path):
    url, commit, _ = remote
    with pytest.raises(SourceTooLarge, match=f"sends more than {HISTORY} bytes"):
        DulwichGit(("http",)).fetch(GitSource(url=url, commit=commit), tmp_path / "t", HISTORY)


def test_what_unpacks_to_more_than_allowed_is_refused(remote, tmp_path):
    url, commit, _ = remote
    with pytest.raises(SourceTooLarge, match=f"has more than {WIDE} bytes of files"):
        DulwichGit(("http",)).fetch(GitSource(url=url, commit=commit), tmp_path / "t", WIDE)


def test_a_commit_that_is_not_there_is_named(remote, tmp_path):
    url, _, _ = remote
    with pytest.raises(BadSource, match="has no commit ffff"):
        DulwichGit(("http",)).fetch(GitSource(url=url, commit="f" * 40), tmp_path / "t", 2 * WIDE)


def test_other_schemes_are_refused_before_anything_is_asked(tmp_path):
    source = GitSource(url="file:///etc", commit="0" * 40)
    with pytest.raises(BadSource, match="fetched by 'file'; allowed: https"):
        DulwichGit().fetch(source, tmp_path, 1000)
