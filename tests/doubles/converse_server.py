"""A model that speaks Bedrock's Converse over HTTP and follows a script.

Requests are checked against botocore's own service model, so that a wrong field fails here as it
would fail in AWS.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator


@dataclass(frozen=True)
class Submits:
    """The model calls the tool with this source."""

    source: str
    input_tokens: int = 1000
    output_tokens: int = 500


@dataclass(frozen=True)
class Says:
    """The model answers in prose, or is cut."""

    text: str
    stop_reason: str = "end_turn"


@dataclass(frozen=True)
class Fails:
    """The service answers with an error."""

    code: str
    status: int = 429


Turn = Submits | Says | Fails


@dataclass
class ConverseServer:
    """Where it listens, and what it was asked, in order."""

    url: str
    turns: list[Turn]
    requests: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def converse_server(turns: Sequence[Turn]) -> Iterator[ConverseServer]:
    """Serve the turns on loopback, one for each request; a request too many is an error."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    served = ConverseServer(f"http://127.0.0.1:{http.server_port}", list(turns))
    http.script = served  # type: ignore[attr-defined]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield served
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def problems_of(request: dict[str, Any]) -> str:
    """What botocore's model of Converse finds wrong with a request; empty if nothing."""
    description = Loader().load_service_model("bedrock-runtime", "service-2")
    shape = ServiceModel(description).operation_model("Converse").input_shape
    return ParamValidator().validate(request, shape).generate_report()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        script: ConverseServer = self.server.script  # type: ignore[attr-defined]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        _, kind, model_id, operation = self.path.split("/")
        request = {**body, "modelId": unquote(model_id)}
        wrong = problems_of(request)
        if (kind, operation) != ("model", "converse") or wrong:
            self._fail("ValidationException", 400, wrong or self.path)
            return
        script.requests.append(request)
        if not script.turns:
            self._fail("ValidationException", 400, "the script has no turn left")
            return
        turn = script.turns.pop(0)
        if isinstance(turn, Fails):
            self._fail(turn.code, turn.status, "scripted")
        else:
            self._send(200, _answer(turn, request), {})

    def _fail(self, code: str, status: int, message: str) -> None:
        self._send(status, {"message": message}, {"x-amzn-ErrorType": code})

    def _send(self, status: int, body: dict[str, Any], headers: dict[str, str]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        fixed = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        for name, value in (fixed | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Tests read what was asked from ``requests``."""


def _answer(turn: Submits | Says, request: dict[str, Any]) -> dict[str, Any]:
    if isinstance(turn, Says):
        content: dict[str, Any] = {"text": turn.text}
        stop, read, written = turn.stop_reason, 1000, 100
    else:
        tool = request["toolConfig"]["tools"][0]["toolSpec"]["name"]
        given = {"source": turn.source, "idea": "scripted"}
        content = {"toolUse": {"toolUseId": "call-1", "name": tool, "input": given}}
        stop, read, written = "tool_use", turn.input_tokens, turn.output_tokens
    return {
        "output": {"message": {"role": "assistant", "content": [content]}},
        "stopReason": stop,
        "usage": {"inputTokens": read, "outputTokens": written, "totalTokens": read + written},
        "metrics": {"latencyMs": 5},
    }
