"""The routes: each calls one function of ``jobs.service`` or ``jobs.gates``."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from random import Random
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response, content_types
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query

from nkiport import __version__
from nkiport.contracts.errors import (
    Conflict,
    NkiportError,
    NotFound,
    Rejected,
    Sealed,
    SourceTooLarge,
    StaleLink,
)
from nkiport.contracts.jobs import GateName, JobRequest
from nkiport.contracts.steps import GateAnswer
from nkiport.contracts.surfaces import (
    ArtifactLink,
    GateBody,
    GateView,
    JobList,
    JobView,
    Upload,
    UploadRequest,
)
from nkiport.jobs import service
from nkiport.jobs.gates import answer_gate
from nkiport.jobs.ports import Artifacts, Clock, Executions, Records, TaskTokens

STATUS: tuple[tuple[type[NkiportError], HTTPStatus], ...] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (Conflict, HTTPStatus.CONFLICT),
    (StaleLink, HTTPStatus.CONFLICT),
    (Sealed, HTTPStatus.CONFLICT),
    (SourceTooLarge, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    (Rejected, HTTPStatus.BAD_REQUEST),
    (NkiportError, HTTPStatus.SERVICE_UNAVAILABLE),
)
"""The first class that fits decides."""


@dataclass(frozen=True)
class Ports:
    """What the routes need of the world."""

    artifacts: Artifacts
    records: Records
    executions: Executions
    tokens: TaskTokens
    clock: Clock
    entropy: Random


def application(ports: Callable[[], Ports]) -> APIGatewayRestResolver:
    """The API; ``ports`` is called when a request needs them: describing it needs none."""
    app = APIGatewayRestResolver(enable_validation=True)
    _jobs(app, ports)
    _more(app, ports)
    _errors(app)
    return app


def described(app: APIGatewayRestResolver) -> str:
    """The OpenAPI document."""
    return app.get_openapi_json_schema(
        title="nkiport", version=__version__, description="Jobs, gates and artifacts of nkiport"
    )


def _jobs(app: APIGatewayRestResolver, ports: Callable[[], Ports]) -> None:
    @app.post("/jobs", summary="Submit a job", tags=["jobs"])
    def submit(body: Annotated[JobRequest, Body()]) -> JobView:
        p = ports()
        return service.submit_job(
            body, owner=owner(app), artifacts=p.artifacts, records=p.records,
            executions=p.executions, clock=p.clock,
        )  # fmt: skip

    @app.get("/jobs", summary="List jobs, newest first", tags=["jobs"])
    def listed(
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
        before: Annotated[str | None, Query()] = None,
    ) -> JobList:
        return service.list_jobs(
            owner=owner(app), records=ports().records, limit=limit, before=before
        )

    @app.get("/jobs/<job_id>", summary="Show a job", tags=["jobs"])
    def shown(job_id: Annotated[str, Path()]) -> JobView:
        return service.show_job(job_id, owner=owner(app), records=ports().records)

    @app.delete("/jobs/<job_id>", summary="Cancel a job", tags=["jobs"])
    def cancelled(job_id: Annotated[str, Path()]) -> JobView:
        p = ports()
        return service.cancel_job(
            job_id, owner=owner(app), records=p.records, executions=p.executions, clock=p.clock
        )


def _more(app: APIGatewayRestResolver, ports: Callable[[], Ports]) -> None:
    @app.post("/jobs/<job_id>/gates/<gate>", summary="Answer a gate", tags=["gates"])
    def answered(
        job_id: Annotated[str, Path()],
        gate: Annotated[GateName, Path()],
        body: Annotated[GateBody, Body()],
    ) -> GateView:
        p, who = ports(), owner(app)
        service.owned(job_id, who, p.records)
        answer = GateAnswer.model_validate(
            {"job_id": job_id, "gate": gate, **dict(body), "answered_by": who}
        )
        decided = answer_gate(
            answer, records=p.records, artifacts=p.artifacts, tokens=p.tokens, clock=p.clock,
            entropy=p.entropy,
        )  # fmt: skip
        return GateView.of(decided)

    @app.get("/jobs/<job_id>/artifacts/<path>", summary="Link to an artifact", tags=["jobs"])
    def linked(job_id: Annotated[str, Path()], path: Annotated[str, Path()]) -> ArtifactLink:
        p = ports()
        named = _rest_of_path(app, path)
        return service.artifact_link(
            job_id, named, owner=owner(app), records=p.records, artifacts=p.artifacts
        )

    @app.get("/jobs/<job_id>/artifacts/.+", include_in_schema=False)
    def linked_below(job_id: Annotated[str, Path()]) -> ArtifactLink:
        return linked(job_id, "")

    @app.post("/uploads", summary="Ask where to put an archive", tags=["jobs"])
    def upload(body: Annotated[UploadRequest, Body()]) -> Upload:
        return service.request_upload(body.bytes, artifacts=ports().artifacts)

    @app.get("/openapi.json", include_in_schema=False)
    def described_here() -> Response[str]:
        return Response(HTTPStatus.OK, content_types.APPLICATION_JSON, described(app))


def _errors(app: APIGatewayRestResolver) -> None:
    @app.exception_handler(NkiportError)  # type: ignore[untyped-decorator]
    def refused(error: NkiportError) -> Response[str]:
        status = next(code for kind, code in STATUS if isinstance(error, kind))
        return _said(status, type(error).__name__, str(error))

    @app.exception_handler(RequestValidationError)  # type: ignore[untyped-decorator]
    def invalid(error: RequestValidationError) -> Response[str]:
        found = [
            f"{'.'.join(map(str, e['loc'][1:])) or 'body'}: {e['msg']}" for e in error.errors()
        ]
        return _said(HTTPStatus.BAD_REQUEST, "BadRequest", "; ".join(found))


def owner(app: APIGatewayRestResolver) -> str:
    """Who calls: the signer's ARN, or whom the authorizer let in."""
    context: Any = app.current_event.raw_event.get("requestContext", {})
    signed = (context.get("identity") or {}).get("userArn")
    let_in = (context.get("authorizer") or {}).get("principalId")
    return str(signed or let_in or "local")


def _rest_of_path(app: APIGatewayRestResolver, path: str) -> str:
    """An artifact's name may have slashes."""
    _, _, rest = app.current_event.path.partition("/artifacts/")
    return rest or path


def _said(status: HTTPStatus, error: str, message: str) -> Response[str]:
    return Response(
        status, content_types.APPLICATION_JSON, json.dumps({"error": error, "message": message})
    )
