"""Pull requests on GitHub, through its REST API: one commit, one branch, one request."""

import base64
from collections.abc import Mapping
from typing import Any

import httpx

from nkiport.contracts.errors import DeliveryFailed

VERSION = "2022-11-28"
THERE_ALREADY = 422


class GitHubForge:
    """``client`` has the API's address; https://docs.github.com/rest."""

    def __init__(self, token: str, client: httpx.Client) -> None:
        self._client = client
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": VERSION,
        }

    def open_pull_request(
        self,
        *,
        repository: str,
        base: str,
        branch: str,
        files: Mapping[str, bytes],
        title: str,
        body: str,
        draft: bool,
    ) -> str:
        """Commit the files on a branch of their own and ask for it to be pulled."""
        at = f"/repos/{repository}"
        open_one = self._open(at, branch)
        if open_one:
            return open_one
        parent = self._ask("GET", f"{at}/git/ref/heads/{base}")["object"]["sha"]
        commit = self._commit(at, parent, files, title)
        self._point(at, branch, commit)
        asked = {"title": title, "head": branch, "base": base, "body": body, "draft": draft}
        return str(self._ask("POST", f"{at}/pulls", asked)["html_url"])

    def _open(self, at: str, branch: str) -> str:
        owner = at.split("/")[2]
        found = self._ask("GET", f"{at}/pulls?state=open&head={owner}:{branch}")
        return str(found[0]["html_url"]) if found else ""

    def _commit(self, at: str, parent: str, files: Mapping[str, bytes], title: str) -> str:
        base_tree = self._ask("GET", f"{at}/git/commits/{parent}")["tree"]["sha"]
        entries = [
            {"path": path, "mode": "100644", "type": "blob", "sha": self._blob(at, data)}
            for path, data in sorted(files.items())
        ]
        tree = self._ask("POST", f"{at}/git/trees", {"base_tree": base_tree, "tree": entries})
        asked = {"message": title, "tree": tree["sha"], "parents": [parent]}
        return str(self._ask("POST", f"{at}/git/commits", asked)["sha"])

    def _blob(self, at: str, data: bytes) -> str:
        asked = {"content": base64.b64encode(data).decode(), "encoding": "base64"}
        return str(self._ask("POST", f"{at}/git/blobs", asked)["sha"])

    def _point(self, at: str, branch: str, commit: str) -> None:
        """Make the branch, or move the one that an earlier try left."""
        made = self._send("POST", f"{at}/git/refs", {"ref": f"refs/heads/{branch}", "sha": commit})
        if made.status_code == THERE_ALREADY:
            self._ask("PATCH", f"{at}/git/refs/heads/{branch}", {"sha": commit, "force": True})
        else:
            _good(made)

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return _good(self._send(method, path, body)).json()

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None) -> httpx.Response:
        try:
            return self._client.request(method, path, json=body, headers=self._headers)
        except httpx.HTTPError as error:
            raise DeliveryFailed(f"GitHub did not answer {method} {path}: {error}") from error


def _good(answer: httpx.Response) -> httpx.Response:
    if answer.is_error:
        asked = f"{answer.request.method} {answer.request.url.path}"
        raise DeliveryFailed(f"GitHub refused {asked}: {answer.status_code} {answer.text[:300]}")
    return answer
