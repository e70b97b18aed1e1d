"""Writes candidates: by rules, or by a model. A candidate does not know who wrote it."""

from collections.abc import Mapping

from nkiport.contracts.base import BackendName
from nkiport.generation.backend import Backend, Earlier, Meter, Task, Usage, Written
from nkiport.generation.claude import Claude
from nkiport.generation.model import Answer, Model, Prompt
from nkiport.generation.recipes import Recipes
from nkiport.generation.router import Choice, Situation, route

__all__ = [
    "Answer",
    "Backend",
    "Choice",
    "Claude",
    "Earlier",
    "Meter",
    "Model",
    "Prompt",
    "Recipes",
    "Situation",
    "Task",
    "Usage",
    "Written",
    "route",
    "set_up",
]


def set_up(*, claude: Model | None = None) -> Mapping[BackendName, Backend]:
    """The backends there are: ``recipes`` always, others where a model is given."""
    there: dict[BackendName, Backend] = {"recipes": Recipes()}
    return there | ({"claude": Claude(claude)} if claude else {})
