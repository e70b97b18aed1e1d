"""The entries, read from the data files beside this module: one file for each category."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Category = Literal["pattern", "recipe", "mistake"]
FILES: tuple[Category, ...] = ("pattern", "recipe", "mistake")


class Entry(BaseModel):
    """One thing worth knowing, with the phrases that ask for it and where it was learnt."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    category: Category
    title: str
    asks: tuple[str, ...] = Field(min_length=1, description="phrases a question about it holds")
    text: str
    source: str = Field(min_length=1)
    kernel: str = Field(default="", description="a candidate file that shows it, and is tested")


@cache
def entries() -> tuple[Entry, ...]:
    """Every entry; a pattern's text ends with its kernel."""
    folder = files("nkiport.skills")
    found: list[Entry] = []
    for category in FILES:
        for raw in tomllib.loads((folder / f"{category}s.toml").read_text())["entry"]:
            code = (folder / "kernels" / raw["kernel"]).read_text() if "kernel" in raw else ""
            text = "\n\n".join(part for part in (raw["text"].strip(), code.strip()) if part)
            found.append(Entry(**{**raw, "category": category, "text": text}))
    return tuple(found)
