"""The choices a lowering is free in: upper bounds of its tiles, and two ways to take or to leave.

Every tuning gives a right kernel; which is fastest depends on the shapes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Upper bounds; what the target or the shapes allow may be less. Defaults suit most shapes."""

    stream_columns: int = 2048
    """Columns of a tile that is walked: 8 KiB of fp32 for each partition are long enough that DMA
    start-up costs little (4 KiB are)."""
    fold: int | None = None
    """Columns of the rows that elements without neighbours are divided into; None for the rows
    they come in."""
    held_tiles: int | None = None
    """Tiles of the operand of a matmul that stays in SBUF; None for as many as fit. 0 keeps none:
    both operands pass by for every result."""
    product_columns: int = 512
    """Columns of a tile of a matmul's result; fewer where the result has few tiles."""
    positions: int = 512
    """Positions of a tile of the result of a convolution or pooling."""
    stacked: bool = True
    """Whether taps of few channels lie on the partitions beside each other."""
    chains: bool = True
    """Whether groups that hand each other whole rows become one kernel."""


CHOICES: Mapping[str, tuple[int | bool, ...]] = MappingProxyType(
    {
        "product_columns": (256, 128),
        "held_tiles": (2, 1),
        "stacked": (False,),
        "positions": (256, 128),
        "fold": (1024, 2048),
        "stream_columns": (512, 256),
        "chains": (False,),
    }
)
"""What a search tries beside the default of each field, in this order."""
