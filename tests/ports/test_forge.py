"""Pull requests, against a local server with the part of GitHub's REST API that is used."""

import base64
import json

import httpx
import pytest

from nkiport.adapters.github_forge import GitHubForge
from nkiport.contracts.errors import DeliveryFailed


class GitHub:
    """Remembers what was pushed; answers as the REST documentation says."""

    def __init__(self):
        self.blobs, self.trees, self.commits, self.refs, self.pulls = {}, {}, {}, {}, []
        self.refs["heads/main"] = "base"
        self.broken = False

    def __call__(self, request):
        if self.broken:
            return httpx.Response(503, text="unicorn")
        if request.headers.get("Authorization") != "Bearer token":
            return httpx.Response(401, json={"message": "Bad credentials"})
        path = request.url.path.removeprefix("/repos/me/repo")
        body = json.loads(request.content) if request.content else {}
        return self._route(request.method, path, body, request.url.params)

    def _route(self, method, path, body, query):  # noqa: C901, PLR0911 - one branch a route
        if (method, path) == ("GET", "/pulls"):
            wanted = query["head"].partition(":")[2]
            return httpx.Response(200, json=[p for p in self.pulls if p["head"] == wanted])
        if (method, path) == ("GET", "/git/ref/heads/main"):
            return httpx.Response(200, json={"object": {"sha": self.refs["heads/main"]}})
        if (method, path) == ("GET", "/git/commits/base"):
            return httpx.Response(200, json={"tree": {"sha": "base-tree"}})
        if (method, path) == ("POST", "/git/blobs"):
            sha = f"blob-{len(self.blobs)}"
            self.blobs[sha] = base64.b64decode(body["content"])
            return httpx.Response(201, json={"sha": sha})
        if (method, path) == ("POST", "/git/trees"):
            self.trees["tree"] = {e["path"]: self.blobs[e["sha"]] for e in body["tree"]}
            return httpx.Response(201, json={"sha": "tree"})
        if (method, path) == ("POST", "/git/commits"):
            self.commits["commit"] = body
            return httpx.Response(201, json={"sha": "commit"})
        if (method, path) == ("POST", "/git/refs"):
            name = body["ref"].removeprefix("refs/")
            if name in self.refs:
                return httpx.Response(422, json={"message": "Reference already exists"})
            self.refs[name] = body["sha"]
            return httpx.Response(201, json={})
        if method == "PATCH" and path.startswith("/git/refs/heads/"):
            self.refs[path.removeprefix("/git/refs/")] = body["sha"]
            return httpx.Response(200, json={})
        if (method, path) == ("POST", "/pulls"):
            pull = {**body, "html_url": f"https://github.test/me/repo/pull/{len(self.pulls) + 1}"}
            self.pulls.append(pull)
            return httpx.Response(201, json=pull)
        return httpx.Response(404, json={"message": f"{method} {path}"})


@pytest.fixture
def github():
    return GitHub()


@pytest.fixture
def offer(github):
    transport = httpx.MockTransport(github)
    with httpx.Client(base_url="https://api.github.test", transport=transport) as client:

        def ask(token="token", **changes):
            asked = {
                "repository": "me/repo", "base": "main", "branch": "nkiport/job-1",
                "files": {"nki_kernels/a.py": b"x = 1\n"}, "title": "t", "body": "b", "draft": True,
            }  # fmt: skip
            return GitHubForge(token, client).open_pull_request(**(asked | changes))

        yield ask


def test_a_pull_request_has_the_files_on_a_branch_of_the_base(github, offer):
    url = offer()

    assert url == "https://github.test/me/repo/pull/1"
    assert github.trees["tree"] == {"nki_kernels/a.py": b"x = 1\n"}
    assert github.commits["commit"]["parents"] == ["base"]
    assert github.refs["heads/nkiport/job-1"] == "commit"
    assert github.pulls[0]["draft"] is True


def test_asked_twice_there_is_one_pull_request(github, offer):
    assert offer() == offer()
    assert len(github.pulls) == 1


def test_a_branch_that_an_earlier_try_left_is_moved(github, offer):
    github.refs["heads/nkiport/job-1"] = "old"

    offer()

    assert github.refs["heads/nkiport/job-1"] == "commit"


def test_a_refusal_says_what_was_asked_and_what_was_answered(github, offer):
    with pytest.raises(DeliveryFailed, match=r"401 .*Bad credentials"):
        offer(token="wrong")
    github.broken = True
    with pytest.raises(DeliveryFailed, match="503 unicorn"):
        offer()
