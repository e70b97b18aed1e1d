"""The names of ``nl`` and ``nisa``, for the static check."""

from functools import cache

from nkiport.nki import target
from nkiport.simulator.language import isa, language
from nkiport.simulator.machine import Machine
from nkiport.simulator.options import Options


@cache
def known_names(space: str) -> frozenset[str]:
    """Return every name of ``nl`` or ``nisa`` that a kernel may use."""
    machine = Machine(target("trn1"), Options())
    made = language(machine) if space == "nl" else isa(machine)
    return frozenset(each for each in vars(made) if not each.startswith("_"))
