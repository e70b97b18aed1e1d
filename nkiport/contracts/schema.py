"""JSON schemas of what crosses a process border: generated, checked in, compared by a test.

A diff under ``nkiport/contracts/schema`` is a change on the wire.
"""

import json
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from nkiport.contracts import capture, discovery, evidence, jobs, judgement, steps
from nkiport.contracts.base import Contract

MODULES = (capture, discovery, evidence, jobs, judgement, steps)
FOLDER = Path(__file__).with_name("schema")


def messages() -> dict[str, type[BaseModel]]:
    """Every message class, by name, that the modules above declare."""
    found = {
        name: value
        for module in MODULES
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, Contract)
        and value.__module__ == module.__name__
    }
    return dict(sorted(found.items()))


def render() -> dict[str, str]:
    """File name to schema text."""
    return {
        f"{name}.json": json.dumps(TypeAdapter(kind).json_schema(), indent=2, sort_keys=True) + "\n"
        for name, kind in messages().items()
    }


def write() -> None:
    """Regenerate the folder."""
    FOLDER.mkdir(exist_ok=True)
    rendered = render()
    for stale in {path.name for path in FOLDER.glob("*.json")} - set(rendered):
        (FOLDER / stale).unlink()
    for name, text in rendered.items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    write()
