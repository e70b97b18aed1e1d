"""The backend that asks Claude: one prompt from files, one kernel from a tool call."""

import json
from dataclasses import asdict
from functools import cache
from typing import Final, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined

from nkiport.generation.backend import Meter, Task, Usage, Written
from nkiport.generation.model import Answer, Model, Prompt
from nkiport.generation.prices import price_of
from nkiport.skills import lookup
from nkiport.skills.search import PARTIAL

MAX_TOKENS: Final = 16_384
"""Output tokens of one answer; a kernel file is a tenth of it."""
MAX_SOURCE: Final = 256 * 1024
"""Bytes of a candidate; more is no kernel."""
SKILLS_SHOWN: Final = 3
TOOL: Final = "submit_kernel"
SCHEMA: Final = {
    "type": "object",
    "properties": {
        "source": {"type": "string", "description": "the whole candidate file"},
        "idea": {"type": "string", "description": "one sentence: what is new in this attempt"},
    },
    "required": ["source", "idea"],
    "additionalProperties": False,
}


class Claude:
    """One call for each attempt; the failures so far go along."""

    name: Literal["claude"] = "claude"

    def __init__(self, model: Model) -> None:
        self._model = model
        self._price = price_of(model.model_id)

    def most_usd(self, task: Task) -> float:
        """The whole prompt uncached, and an answer as long as is allowed."""
        asked = prompt_for(task)
        letters = len(asked.system) + len(asked.user) + len(json.dumps(asked.schema))
        return self._price.most(letters, asked.max_tokens)

    def write(self, task: Task, meter: Meter) -> Written:
        """Ask, unless this attempt was answered before; keep the transcript and the bill."""
        kept = meter.recall()
        if kept is not None:
            return _extract(Answer(**json.loads(kept)["answer"]))
        asked = prompt_for(task)
        meter.reserve(self._model.model_id, self.most_usd(task))
        answer = self._model.ask(asked)
        said = {"model": self._model.model_id, "prompt": asdict(asked), "answer": asdict(answer)}
        meter.settle(json.dumps(said, indent=2), self._usage(answer))
        return _extract(answer)

    def _usage(self, answer: Answer) -> Usage:
        read = answer.input_tokens + answer.cache_read_tokens + answer.cache_write_tokens
        return Usage(self._price.of(answer), read, answer.output_tokens, answer.seconds)


def prompt_for(task: Task) -> Prompt:
    """Render the prompt's files for a task."""
    skills = [hit for hit in lookup(_question(task), top=SKILLS_SHOWN) if hit.score >= PARTIAL]
    return Prompt(
        system=_templates().get_template("system.j2").render(target=task.target, tool=TOOL),
        user=_templates().get_template("task.j2").render(task=task, skills=skills, tool=TOOL),
        tool=TOOL,
        tool_description="Hand in the candidate file. It is compiled, run and judged as it is.",
        schema=dict(SCHEMA),
        max_tokens=MAX_TOKENS,
    )


def _question(task: Task) -> str:
    """The kernel's name, what it computes, and what went wrong last."""
    graph = task.capture.graph
    ops = sorted({node.op.split(".")[1] for node in graph.nodes}) if graph else []
    return " ".join([task.name, *ops, *(turn.feedback for turn in task.earlier[-1:])])


@cache
def _templates() -> Environment:
    loader = PackageLoader("nkiport.generation", "prompts")
    # Prompts are plain text for a model; HTML escaping would spoil the code in them.
    return Environment(loader=loader, undefined=StrictUndefined, autoescape=False)  # noqa: S701


def _extract(answer: Answer) -> Written:
    if answer.stop_reason == "max_tokens":
        return Written(None, f"the model's answer was cut at {MAX_TOKENS} tokens")
    source = (answer.tool_input or {}).get("source")
    if not isinstance(source, str) or not source.strip():
        return Written(None, f"the model did not hand in a kernel; it said: {answer.text[:300]!r}")
    if len(source.encode("utf-8", "replace")) > MAX_SOURCE:
        return Written(None, f"the model's kernel is larger than {MAX_SOURCE} bytes")
    return Written(source if source.endswith("\n") else source + "\n")
