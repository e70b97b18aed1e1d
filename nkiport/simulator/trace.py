"""What ran: one record for each instruction."""

from typing import NamedTuple

from nkiport.nki.dtypes import AnyDType
from nkiport.nki.op import Kind, Work
from nkiport.nki.targets import Engine


class Instruction(NamedTuple):
    """One instruction that ran. ``reads`` and ``writes`` name tiles, for dependencies."""

    op: str
    engine: Engine
    kind: Kind
    partitions: int
    work: Work
    line: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]

    @property
    def dtype(self) -> AnyDType:
        """The type of the widest operand."""
        return self.work.dtype


class Room(NamedTuple):
    """SBUF that a tensor takes: so many tiles, numbered from ``number`` on."""

    number: int
    tiles: int
    partitions: int
    bytes: int
    """Of one partition of one tile."""


class Trace(NamedTuple):
    """The instructions of a run in program order, and its traffic with HBM in bytes."""

    instructions: tuple[Instruction, ...]
    bytes_read: int
    bytes_written: int
    flops: float
    """Arithmetic of the tensor engine: two for each multiply-add."""
    sbuf_peak: int
    """The most bytes of a partition alive at one time."""
    psum_peak: int
    rooms: tuple[Room, ...] = ()
    """The tensors in SBUF, in the order of their numbers."""
