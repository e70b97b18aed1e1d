"""The names a candidate may reach through a dot or an import: an allow-list, from the tables.

The simulator runs a candidate as Python, on objects that hold values. A list of refused names
would always lack one that leads from a tensor to its numbers.
"""

import math
from collections.abc import Iterator
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any

from nkiport.nki import target
from nkiport.simulator.language import modules
from nkiport.simulator.machine import Machine
from nkiport.simulator.namespace import Namespace
from nkiport.simulator.options import Options

TENSORS = frozenset(
    {
        "shape", "dtype", "ndim", "itemsize", "size", "astype", "broadcast_to", "expand_dims",
        "reshape", "view", "assert_shape", "flatten", "ravel", "squeeze", "unsqueeze",
        "contiguous", "p", "x", "y", "z",
    }
)  # fmt: skip
"""What a kernel may ask of a tile, an index grid or a host tensor: shapes and views, no values."""
PLAIN = frozenset({"append", "extend", "insert", "pop", "index", "count", "items", "keys", "get",
                   "join", "startswith", "endswith"})  # fmt: skip
"""Methods of lists, dictionaries and texts. Not ``format``, which follows dots in a text."""
PATHS = frozenset({"nki", "nki.language", "nki.isa", "nki.typing"})


def importable(module: str) -> bool:
    """Whether a module is one of the dialects', or one that the simulator stands in for.

    >>> importable("neuronxcc.nki.isa"), importable("neuronxcc.driver"), importable("os")
    (True, False, False)
    """
    inside = module.removeprefix("neuronxcc.")
    return inside in PATHS or module in {"neuronxcc", "math", "numpy", "__future__"}


@cache
def permitted() -> frozenset[str]:
    """Every name that may follow a dot or be imported."""
    stands_in = modules(Machine(target("trn1"), Options()))
    language = {name for module in stands_in.values() for name in _public(module)}
    return frozenset(language | TENSORS | PLAIN | {"nki", "annotations"})


def _public(module: Any) -> Iterator[str]:
    if isinstance(module, ModuleType) and module is not math:
        return
    for name, value in vars(module).items():
        if name.startswith("_"):
            continue
        yield name
        if isinstance(value, SimpleNamespace | Namespace):
            yield from _public(value)
