"""The state of one simulation: its limits, its loops, its memory, and what it found."""

import math
import sys
import time
from collections.abc import Iterator
from itertools import count
from typing import Any, NoReturn

import numpy as np

from nkiport.contracts.judgement import Finding
from nkiport.nki import Problem, Target
from nkiport.nki.checks import partition_limit
from nkiport.nki.dtypes import (
    AnyDType,
    Array,
    as_dtype,
    poison,
)
from nkiport.nki.op import Buffer
from nkiport.simulator.errors import RuleBroken, broken
from nkiport.simulator.memory import Tile
from nkiport.simulator.options import Options
from nkiport.simulator.plan import Plan
from nkiport.simulator.storage import LoopIndex, ParDim, Storage
from nkiport.simulator.trace import Instruction, Room

Level = tuple[int, str, int]
"""One loop a statement is in: the loop's number, its kind and the iteration."""


class State:
    """State of one simulation; namespaces, tiles and kernels hold it, nothing is global."""

    def __init__(self, target: Target, options: Options) -> None:
        self.target = target
        self.options = options
        self.findings: dict[tuple[str, int | None, str], Finding] = {}
        self.instructions: list[Instruction] = []
        self.bytes_read = 0
        self.bytes_written = 0
        self.flops = 0.0
        self.kernel_depth = 0
        self.grid: tuple[int, ...] = ()
        self.program: tuple[int, ...] = ()
        self.live: dict[str, int] = {"sbuf": 0, "psum": 0, "hbm": 0, "bytes": 0}
        self.peak = {"sbuf": 0, "psum": 0}
        self.levels: list[Level] = []
        self._launch = 0
        self._shared: list[Tile] = []
        self._next_shared = 0
        self._contexts: list[tuple[Level, ...]] = [()]
        self._context: int | None = 0
        self._next_number = 1
        self.rooms: list[Room] = []
        self._loops = count(1)
        self._iterations = 0
        self._plans: dict[Any, Plan] = {}
        self._accumulators: dict[str, Array] = {}
        self._deadline = time.monotonic() + options.max_seconds

    # Findings and limits.

    def line(self) -> int:
        """The line of the candidate that runs now; 0 if none does."""
        frame = sys._getframe(1)  # noqa: SLF001
        name = self.options.file_name
        while frame is not None:
            if frame.f_code.co_filename == name:
                return frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment]
        return 0

    def report(self, problem: Problem, severity: str, line: int | None = None) -> None:
        """Keep a finding; the same one on the same line is kept once."""
        at = line or self.line() or None
        finding = Finding(
            code=problem.code, severity="warning" if severity == "warning" else "error", line=at,
            asked=problem.asked, allowed=problem.allowed, fix=problem.fix,
        )  # fmt: skip
        self.findings.setdefault((problem.code, at, ""), finding)

    def stop(self, what: str, limit: str) -> NoReturn:
        """End the run because a limit is reached."""
        raise broken("err_limit_reached", what, limit, "make the kernel or its inputs smaller")

    def tick(self) -> None:
        """Count one iteration or instruction; end the run when it takes too long."""
        self._iterations += 1
        if self._iterations > self.options.max_iterations:
            self.stop("an endless loop", f"{self.options.max_iterations} iterations")
        if self._iterations % 256 == 0 and time.monotonic() > self._deadline:
            self.stop("the run takes too long", f"{self.options.max_seconds:g} s")

    # Launches.

    def begin_launch(self, grid: tuple[int, ...]) -> None:
        """Start the programs of one launch; they share their outputs."""
        self.grid = grid
        self._launch = next(self._loops)
        self._shared = []

    def begin_program(self, number: int, ids: tuple[int, ...]) -> None:
        """Start one program of the grid."""
        self.program = ids
        self.levels[:] = [(self._launch, "SPMD", number)]
        self._context = None
        self._next_shared = 0

    def end_launch(self) -> None:
        """Return to the host function."""
        self.grid = self.program = ()
        self.levels.clear()
        self._shared = []

    def shared_output(self, shape: tuple[int, ...], dtype: AnyDType, name: str) -> Tile:
        """Return the program's next output; the programs of a launch get the same one."""
        if len(self.levels) > 1:
            raise broken(
                "err_shared_hbm_must_in_kernel_level", "shared_hbm allocated in a loop",
                "outputs are allocated at the kernel's top level", "move it before the loop",
            )  # fmt: skip
        if self._next_shared == len(self._shared):
            self._shared.append(self.allocate(shape, dtype, "shared_hbm", name=name))
        self._next_shared += 1
        return self._shared[self._next_shared - 1]

    def parameter(self, values: Array, name: str, readers: Any, number: int | None) -> Tile:
        """Return a kernel's view of a host tensor: in HBM, read only in a stranger's file.

        What an earlier launch made keeps the ``number`` it was written under.
        """
        tile = self.wrap(values, "private_hbm", name)
        tile.storage.number = number or tile.storage.number
        tile.storage.read_only = not self.options.own
        if readers is not None:
            readers.append(tile.storage)
        return tile

    # Loops.

    def loop(self, kind: str, *bounds: int) -> Iterator[int]:
        """Iterate; the statements inside know which iteration of which loop they are in."""
        if not all(isinstance(each, int | np.integer) for each in bounds):
            given = ", ".join(type(each).__name__ for each in bounds)
            raise broken("err_loop_bounds", f"a loop over {given}", "integers known before running")
        number, at = next(self._loops), len(self.levels)
        self.levels.append((number, kind, -1))
        try:
            for i in range(*bounds):
                self.tick()
                self.levels[at] = (number, kind, i)
                self._context = None
                index = LoopIndex(i)
                index.loop = number
                yield index
        finally:
            del self.levels[at:]
            self._context = None

    def context(self) -> int:
        """The number of the current loop iteration, for stamping what it writes."""
        if self._context is None:
            self._contexts.append(tuple(self.levels))
            self._context = len(self._contexts) - 1
        return self._context

    def _conflict(self, stamp: int) -> str:
        """The kind of parallel loop whose other iteration left the stamp, or nothing."""
        for (loop_a, kind, i_a), (loop_b, _, i_b) in zip(
            self._contexts[stamp], self.levels, strict=False
        ):
            if loop_a != loop_b:
                return ""
            if i_a != i_b:
                return kind if kind in {"affine_range", "SPMD"} else ""
        return ""

    # Memory.

    def allocate(self, shape: Any, dtype: Any, buffer: Buffer, *, name: str = "") -> Tile:
        """Return a tile of new memory, which nobody has written."""
        sizes = self._sizes(shape)
        blocks = next((i for i, each in enumerate(shape) if isinstance(each, ParDim)), 0)
        tile = self._tile(sizes, as_dtype(dtype), buffer, blocks, name)
        storage = tile.storage
        if self.options.fresh == "nan":
            storage.values = np.full(sizes, poison(storage.dtype), storage.dtype)
            storage.leave_undefined()
        else:
            storage.values = np.zeros(sizes, storage.dtype)
        return tile

    def wrap(self, values: Array, buffer: Buffer, name: str = "") -> Tile:
        """Return a tile over an array that an instruction made; no copy if it is contiguous."""
        flat = np.ascontiguousarray(values)
        sizes = flat.shape if flat.size else self._sizes(flat.shape)
        tile = self._tile(sizes, as_dtype(flat.dtype), buffer, 0, name)
        tile.storage.values = flat
        if tile.storage.on_chip:
            self.begin(tile.storage)
        return tile

    def _tile(
        self, sizes: tuple[int, ...], kind: AnyDType, buffer: Buffer, blocks: int, name: str
    ) -> Tile:
        """A tile of a new storage that fits, still without its values."""
        storage = Storage(shape=sizes, dtype=kind, buffer=buffer, blocks=blocks, name=name)
        if storage.on_chip:
            self._check_chip(storage)
        self._hold(storage)
        storage.number = self._number(storage)
        # Only the whole machine is ever made, never this part of it.
        return Tile(self, storage, sizes, storage.strides, 0, blocks)  # type: ignore[arg-type]

    def _number(self, storage: Storage) -> int:
        """The number of a new tensor's first block; the others' follow."""
        sizes, blocks, number = storage.shape, storage.blocks, self._next_number
        tiles = math.prod(sizes[:blocks]) if blocks else 1
        self._next_number += tiles
        if storage.buffer == "sbuf":
            self.rooms.append(Room(number, tiles, sizes[blocks], storage.partition_bytes))
        return number

    def _sizes(self, shape: Any) -> tuple[int, ...]:
        try:
            sizes = tuple(int(each) for each in shape)
        except TypeError:
            raise broken(
                "err_shape", f"the shape {shape!r}", "a tuple of integers",
                "shapes are known before running: they cannot depend on data",
            ) from None  # fmt: skip
        if any(each < 1 for each in sizes):
            raise broken("err_shape", f"the shape {sizes}", "sizes of 1 and more")
        return sizes

    def _check_chip(self, storage: Storage) -> None:
        buffer, shape = storage.buffer, storage.shape[storage.blocks :]
        if len(shape) < 2:  # noqa: PLR2004
            raise broken(
                "err_insufficient_rank", f"a {buffer} tile of shape {shape}",
                "a partition dimension and at least one free dimension", "use (n, 1)",
            )  # fmt: skip
        if shape[0] > self.target.partitions:
            raise RuleBroken(partition_limit(f"a {buffer} tile", shape[0], self.target))
        limit = self._room(buffer)
        if storage.partition_bytes > limit:
            raise broken(
                f"err_{buffer}_capacity",
                f"a tile of {storage.partition_bytes} bytes per partition",
                f"{limit} in {buffer}", "split the free dimensions into smaller tiles",
            )  # fmt: skip

    def _room(self, buffer: Buffer) -> int:
        """The bytes of a partition."""
        return self.target.sbuf_bytes if buffer == "sbuf" else self.target.psum_bytes

    def _hold(self, storage: Storage) -> None:
        """Count the memory of a new storage, until nothing refers to it any more."""
        live = self.live
        if live["bytes"] + storage.bytes > self.options.max_bytes:
            self.stop(
                f"{live['bytes'] + storage.bytes} bytes of memory", f"{self.options.max_bytes}"
            )
        live["bytes"] += storage.bytes
        storage.release = self._release

    def begin(self, storage: Storage) -> None:
        """Note the first value of a storage: from here on it takes room on the chip.

        Not from its making on: where a loop makes a tensor anew, the one of the iteration before
        keeps its name until then, and a compiler gives both the same room.
        """
        storage.written = True
        if not storage.on_chip:
            return
        live, where = self.live, storage.buffer
        live[where] += storage.partition_bytes
        if live[where] > self.peak[where]:
            self.peak[where] = live[where]
            limit = self._room(where)
            if live[where] > limit:
                self.report(self._too_full(where, limit), "warning")

    def _release(self, storage: Storage) -> None:
        self.live["bytes"] -= storage.bytes
        if storage.on_chip and storage.written:
            self.live[storage.buffer] -= storage.partition_bytes

    def _too_full(self, where: str, limit: int) -> Problem:
        return Problem(
            f"err_{where}_capacity", f"{self.live[where]} bytes per partition are alive",
            f"{limit} in {where}", "smaller tiles, or fewer at one time: the compiler would spill",
        )  # fmt: skip

    # Reading and writing.
