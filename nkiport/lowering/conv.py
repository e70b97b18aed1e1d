"""What every part of a convolution's kernel knows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from nkiport.lowering.ir import Op, Window, detail_of
from nkiport.lowering.kernel import PARTITIONS, Body, times
from nkiport.lowering.select import DTYPES
from nkiport.lowering.space import Axis
from nkiport.lowering.window_tiling import WindowPlan


@dataclass(frozen=True)
class Conv:
    """A convolution that is being written: weights stay, the image passes by."""

    body: Body
    plan: WindowPlan
    op: Op
    axes: Sequence[Axis]
    image: str
    weight: str

    @cached_property
    def window(self) -> Window:
        """How the window of one result moves."""
        return detail_of(self.op, Window)

    @property
    def rows(self) -> int:
        """Rows of the result beside each other on the partitions."""
        return self.plan.sharing.rows

    @property
    def results(self) -> str:
        """The partitions of a tile of results, as source."""
        return "M" if self.rows > 1 else "P"

    @property
    def merged(self) -> int:
        """Groups that are worked on together."""
        return self.plan.sharing.groups

    @property
    def groups(self) -> int:
        """How often that is done."""
        return self.window.groups // self.merged

    @property
    def channels(self) -> int:
        """Input channels of the groups that are worked on together."""
        return self.op.uses[1].shape[1] * self.merged

    @property
    def own(self) -> int:
        """Output channels of them."""
        return self.op.shape[1] // self.groups

    @property
    def parts(self) -> int:
        """Tiles of input channels."""
        return math.ceil(self.channels / PARTITIONS)

    @property
    def tiles(self) -> int:
        """Tiles of output channels."""
        return math.ceil(self.own / PARTITIONS)

    @property
    def held(self) -> int:
        """How many of them have their weights in SBUF at a time."""
        return self.tiles if self.plan.kept else 1

    @property
    def block(self) -> str:
        """The loop over tiles of output channels; empty if there is one."""
        return f"for m in nl.affine_range({self.tiles}):" if self.tiles > 1 else ""

    @property
    def held_block(self) -> str:
        """The loop over those that are held; empty if it is one."""
        return self.block if self.held > 1 else ""

    @property
    def held_tile(self) -> str:
        """The index of a held tile."""
        return "m" if self.held > 1 else "0"

    def row(self, partition: str = "i_p", tile: str = "m") -> str:
        """The output channel of a partition."""
        terms = [times("g", self.own)] if self.groups > 1 else []
        terms += [f"{tile} * P"] if self.tiles > 1 else []
        return " + ".join([*terms, partition])

    def row_mask(self, partition: str) -> str:
        """Whether that channel is one of the group."""
        return f"{self.row(partition)} < {self._end_of_group or self.own}"

    @property
    def row_end(self) -> str:
        """Where the output channels of a group end."""
        return self._end_of_group or "rows"

    @property
    def _end_of_group(self) -> str:
        return f"(g + 1) * {self.own}" if self.groups > 1 else ""

    @property
    def first(self) -> str:
        """Where the group's input channels begin, as a summand."""
        return f"{times('g', self.channels)} + " if self.groups > 1 else ""

    def write_part(self, shape: str, masks: Sequence[str], lacking: str) -> None:
        """Make the tile for a part of the image; filled where masks leave something out."""
        if masks:
            self.body.writer.comment(
                f"Zeros stand for the padding, and for {lacking} there are not."
            )
        made = "zeros" if masks else "ndarray"
        self.body.writer.line(f"part = nl.{made}({shape}, dtype={self.dtype(0)})")

    def dtype(self, operand: int) -> str:
        """The type of the image (0) or of the weights (1)."""
        return DTYPES[self.body.program.dtype_of(self.op.uses[operand].value)]
