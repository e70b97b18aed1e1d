"""What a backend needs of a language model: one question, one tool call."""

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Prompt:
    """A question whose answer is a call of one tool."""

    system: str
    user: str
    tool: str
    tool_description: str
    schema: dict[str, Any]
    """JSON schema of the tool's input."""
    max_tokens: int


@dataclass(frozen=True)
class Answer:
    """What came back, and what it took."""

    tool_input: dict[str, Any] | None
    """None if the model did not call the tool."""
    text: str
    stop_reason: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    seconds: float


class Model(Protocol):
    """A model that is billed by the token."""

    model_id: str

    def ask(self, prompt: Prompt) -> Answer:
        """Ask once. Raises ``ModelBusy`` when throttled, ``BadRequest`` when refused."""
        ...
