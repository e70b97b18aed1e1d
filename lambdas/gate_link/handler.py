"""A gate mail's link: GET shows the question, and only POST decides it.

Mail scanners follow links; a page that decides when it is opened would be answered by them.
"""

import base64
import os
import secrets
from collections.abc import Callable, Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from lambdas._execution import tokens
from lambdas._secrets import secret
from lambdas._settings import Linking
from lambdas._wiring import stores
from nkiport.adapters.memory import SystemClock
from nkiport.contracts.errors import NkiportError, StaleLink
from nkiport.contracts.jobs import Gate
from nkiport.contracts.steps import GateAnswer
from nkiport.jobs.gates import answer_gate, choosable, gate_of
from nkiport.jobs.links import GateLinks, digest
from nkiport.jobs.ports import Artifacts, Clock, Records, TaskTokens

HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
    "X-Frame-Options": "DENY",
}


class Pages:
    """The two pages, over the ports."""

    def __init__(
        self,
        *,
        artifacts: Artifacts,
        records: Records,
        tokens: TaskTokens,
        links: GateLinks,
        clock: Clock,
    ) -> None:
        self._artifacts = artifacts
        self._records = records
        self._tokens = tokens
        self._links = links
        self._clock = clock
        self._templates = Environment(
            loader=FileSystemLoader(Path(__file__).parent),
            autoescape=select_autoescape(["html.j2"]),
            undefined=StrictUndefined,
        )

    def answer(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Show the question, or take the answer; what is wrong is a page too."""
        try:
            token = str((event.get("pathParameters") or {}).get("token", ""))
            gate = self._gate(token)
            if event.get("httpMethod") == "POST":
                return self._decided(gate, _form(event))
            return self._page(HTTPStatus.OK, "question", gate=gate, kernels=self._kernels(gate))
        except NkiportError as error:
            return self._page(HTTPStatus.CONFLICT, "refused", message=str(error))

    def _gate(self, token: str) -> Gate:
        """The gate that this very link was made for."""
        linked = self._links.read(token, self._clock.now())
        gate = gate_of(linked.job_id, linked.gate, self._records)
        if gate.link_nonce_sha256 != digest(token):
            raise StaleLink("a newer link was sent for this gate; open that one")
        return gate

    def _kernels(self, gate: Gate) -> list[Any]:
        return choosable(gate.job_id, gate.gate, self._records)

    def _decided(self, gate: Gate, form: Mapping[str, list[str]]) -> dict[str, Any]:
        answer = GateAnswer.model_validate(
            {
                "job_id": gate.job_id,
                "gate": gate.gate,
                "decision": (form.get("decision") or ["rejected"])[0],
                "kernels": tuple(form.get("kernel", ())) or None,
                "answered_by": "mail link",
            }
        )
        decided = answer_gate(
            answer, records=self._records, artifacts=self._artifacts, tokens=self._tokens,
            clock=self._clock, entropy=secrets.SystemRandom(),
        )  # fmt: skip
        return self._page(HTTPStatus.OK, "decided", gate=decided)

    def _page(self, status: HTTPStatus, kind: str, **said: Any) -> dict[str, Any]:
        text = self._templates.get_template("page.html.j2").render(kind=kind, **said)
        return {"statusCode": int(status), "headers": HEADERS, "body": text}


def _form(event: Mapping[str, Any]) -> dict[str, list[str]]:
    body = str(event.get("body") or "")
    if event.get("isBase64Encoded"):
        body = base64.b64decode(body).decode()
    return parse_qs(body)


def build(env: Mapping[str, str]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Wire the stores, the tokens and the secret that signed the links."""
    settings = Linking.from_env(env)
    links = GateLinks(secret(settings.link_secret_arn))
    return Pages(**stores(settings), tokens=tokens(), links=links, clock=SystemClock()).answer


_wired = cache(lambda: build(os.environ))
logger = Logger()


@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer API Gateway."""
    answer = _wired()(event)
    logger.info("answered", extra={"status": answer["statusCode"]})
    return answer
