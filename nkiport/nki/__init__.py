"""The NKI language as tables: operations, element functions, types, targets and error codes."""

from collections.abc import Mapping
from types import MappingProxyType

from nkiport.nki.op import Call, Op, Operand, Problem, Table, Work
from nkiport.nki.ops.chance import CHANCE
from nkiport.nki.ops.dma import DMA
from nkiport.nki.ops.gather import GATHER, SHUFFLES, TRANSPOSES
from nkiport.nki.ops.gpsimd import GPSIMD
from nkiport.nki.ops.norms import NORMS
from nkiport.nki.ops.scalar import SCALAR
from nkiport.nki.ops.search import SEARCH
from nkiport.nki.ops.select import SELECT
from nkiport.nki.ops.tensor import TENSOR
from nkiport.nki.ops.vector import VECTOR
from nkiport.nki.targets import TARGETS, Target, target

TABLES: tuple[Table, ...] = (
    TENSOR, VECTOR, NORMS, SEARCH, SELECT, CHANCE, SHUFFLES, SCALAR, GPSIMD, GATHER, DMA,
    TRANSPOSES,
)  # fmt: skip

OPS: Mapping[str, Op] = MappingProxyType({key: op for table in TABLES for key, op in table.items()})
"""Every operation, by ``nl.name`` or ``nisa.name``."""

__all__ = [
    "OPS", "TARGETS", "Call", "Op", "Operand", "Problem", "Table", "Target", "Work", "target",
]  # fmt: skip
