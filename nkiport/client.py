"""The API, as a client sees it: for the command line and the MCP server."""

import base64
import io
import os
import zipfile
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from nkiport.contracts import errors
from nkiport.contracts.errors import BadRequest, NkiportError, StoreBusy
from nkiport.contracts.jobs import JobRequest
from nkiport.contracts.surfaces import (
    ArtifactLink,
    GateBody,
    GateView,
    JobList,
    JobView,
    Upload,
)
from nkiport.jobs.service import MOST_INLINE
from nkiport.jobs.source import pack_tree
from nkiport.local.stacks import status

TIMEOUT = 60.0


class Client:
    """Calls the routes; an answer that is an error is raised as the error it names."""

    def __init__(self, url: str, auth: httpx.Auth | None = None, **options: Any) -> None:
        self._http = httpx.Client(base_url=url, auth=auth, timeout=TIMEOUT, **options)

    @classmethod
    def connected(cls) -> Self:
        """By ``NKIPORT_URL`` (and ``NKIPORT_TOKEN``, else AWS credentials), or the local stacks."""
        url, token = os.environ.get("NKIPORT_URL", ""), os.environ.get("NKIPORT_TOKEN", "")
        local = None if url else status()
        if local:
            url, token = local.url, local.token
        if not url:
            raise BadRequest(
                "there is no API to talk to; run 'nkiport local up', or set NKIPORT_URL"
            )
        return cls(url.rstrip("/"), Bearer(token) if token else Signed())

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def submit(self, request: JobRequest) -> JobView:
        """``POST /jobs``."""
        return JobView.model_validate(self._ask("POST", "/jobs", request.model_dump(mode="json")))

    def jobs(self, limit: int = 20, before: str | None = None) -> JobList:
        """``GET /jobs``."""
        query = {"limit": limit, **({"before": before} if before else {})}
        return JobList.model_validate(self._ask("GET", "/jobs", query=query))

    def job(self, job_id: str) -> JobView:
        """``GET /jobs/{id}``."""
        return JobView.model_validate(self._ask("GET", f"/jobs/{job_id}"))

    def answer(self, job_id: str, gate: str, body: GateBody) -> GateView:
        """``POST /jobs/{id}/gates/{gate}``."""
        said = self._ask("POST", f"/jobs/{job_id}/gates/{gate}", body.model_dump(mode="json"))
        return GateView.model_validate(said)

    def cancel(self, job_id: str) -> JobView:
        """``DELETE /jobs/{id}``."""
        return JobView.model_validate(self._ask("DELETE", f"/jobs/{job_id}"))

    def artifact(self, job_id: str, name: str) -> bytes:
        """The bytes of an artifact."""
        said = self._ask("GET", f"/jobs/{job_id}/artifacts/{name}")
        link = ArtifactLink.model_validate(said)
        return self._good(httpx.get(link.url, timeout=TIMEOUT)).content

    def source(self, path: Path) -> dict[str, Any]:
        """A folder, a file or a zip as a job's source, put where its size asks for."""
        data = packed(path)
        if len(data) <= MOST_INLINE:
            return {"kind": "upload", "zip_base64": base64.b64encode(data).decode()}
        upload = Upload.model_validate(self._ask("POST", "/uploads", {"bytes": len(data)}))
        self._good(httpx.put(upload.url, content=data, timeout=TIMEOUT))
        return {"kind": "key", "key": upload.key}

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            return self._good(self._http.request(method, path, json=body, params=query)).json()
        except httpx.HTTPError as error:
            raise StoreBusy(f"the API at {self._http.base_url} does not answer: {error}") from error

    @staticmethod
    def _good(answer: httpx.Response) -> httpx.Response:
        if not answer.is_error:
            return answer
        try:
            said = answer.json()
            kind = getattr(errors, str(said.get("error", "")), None)
            message = str(said["message"])
        except (ValueError, KeyError, AttributeError):
            kind, message = None, f"{answer.status_code}: {answer.text[:300]}"
        if isinstance(kind, type) and issubclass(kind, NkiportError):
            raise kind(message)
        raise BadRequest(message)


class Bearer(httpx.Auth):
    """A token, where IAM is not."""

    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the header."""
        request.headers["Authorization"] = f"Bearer {self._token}"
        yield request


class Signed(httpx.Auth):
    """AWS Signature Version 4, with the credentials and region of the environment."""

    requires_request_body = True

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Sign with botocore."""
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.session import Session

        session = Session()
        credentials, region = session.get_credentials(), session.get_config_variable("region")
        if credentials is None or region is None:
            raise BadRequest("there are no AWS credentials and region to sign with")
        bare = AWSRequest(request.method, str(request.url), data=request.content)
        bare.headers["Host"] = urlsplit(str(request.url)).netloc
        if "Content-Type" in request.headers:
            bare.headers["Content-Type"] = request.headers["Content-Type"]
        SigV4Auth(credentials, "execute-api", region).add_auth(bare)
        request.headers.update(dict(bare.headers.items()))
        yield request


def packed(path: Path) -> bytes:
    """A zip of a folder or file; a zip as it is."""
    if path.is_dir():
        return pack_tree(path)
    if not path.is_file():
        raise BadRequest(f"there is no file or folder '{path}'")
    if path.suffix == ".zip":
        return path.read_bytes()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(path, path.name)
    return made.getvalue()
