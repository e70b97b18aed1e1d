"""A model behind Bedrock's Converse API.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

import time
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from nkiport.contracts.errors import BadRequest, ModelBusy
from nkiport.generation.model import Answer, Prompt


class Conversing(Protocol):
    """The one call of boto3's ``bedrock-runtime`` client that is made here."""

    def converse(self, **request: Any) -> Any:
        """Send one request of the Converse API."""
        ...


BUSY = frozenset(
    {
        "InternalServerException", "ModelErrorException", "ModelNotReadyException",
        "ModelTimeoutException", "ServiceUnavailableException", "ThrottlingException",
    }
)  # fmt: skip
"""Errors of Converse that trying again may help: its API reference lists them."""


class BedrockModel:
    """One model or inference profile. The system prompt is cached between calls."""

    def __init__(self, model_id: str, client: Conversing) -> None:
        self.model_id = model_id
        self._client = client

    def ask(self, prompt: Prompt) -> Answer:
        """Ask once. Raises ``ModelBusy`` when throttled, ``BadRequest`` when refused."""
        started = time.monotonic()
        try:
            said = self._client.converse(**_request(self.model_id, prompt))
        except ClientError as error:
            code = error.response["Error"]["Code"]
            family = ModelBusy if code in BUSY else BadRequest
            raise family(f"Bedrock answered {code} for '{self.model_id}': {error}") from error
        except BotoCoreError as error:
            raise ModelBusy(f"Bedrock could not be reached: {error}") from error
        return _answer(said, prompt.tool, time.monotonic() - started)


def _request(model_id: str, prompt: Prompt) -> dict[str, Any]:
    tool = {
        "name": prompt.tool,
        "description": prompt.tool_description,
        "inputSchema": {"json": prompt.schema},
    }
    return {
        "modelId": model_id,
        "system": [{"text": prompt.system}, {"cachePoint": {"type": "default"}}],
        "messages": [{"role": "user", "content": [{"text": prompt.user}]}],
        "inferenceConfig": {"maxTokens": prompt.max_tokens},
        "toolConfig": {
            "tools": [{"toolSpec": tool}],
            "toolChoice": {"tool": {"name": prompt.tool}},
        },
    }


def _answer(said: Any, tool: str, seconds: float) -> Answer:
    blocks = said["output"]["message"]["content"]
    calls = [b["toolUse"] for b in blocks if "toolUse" in b and b["toolUse"]["name"] == tool]
    usage = said["usage"]
    return Answer(
        tool_input=calls[0]["input"] if calls else None,
        text="\n".join(block["text"] for block in blocks if "text" in block),
        stop_reason=said["stopReason"],
        input_tokens=usage["inputTokens"],
        output_tokens=usage["outputTokens"],
        cache_read_tokens=usage.get("cacheReadInputTokens", 0),
        cache_write_tokens=usage.get("cacheWriteInputTokens", 0),
        seconds=seconds,
    )
