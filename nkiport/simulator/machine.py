"""The machine: memory, loops and instructions of one simulation, and what it found."""

import sys
import time
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NoReturn

import numpy as np

from nkiport.contracts.judgement import Finding
from nkiport.nki import OPS, Call, Op, Problem, Target, Work
from nkiport.nki.checks import fits, partition_limit, problems
from nkiport.nki.dtypes import (
    BOOL,
    FLOAT32,
    UINT8,
    AnyDType,
    Array,
    as_dtype,
    cast,
    is_float,
    poison,
    promote,
    scalar_dtype,
)
from nkiport.nki.op import Buffer
from nkiport.nki.targets import Engine
from nkiport.simulator.errors import RuleBroken, broken
from nkiport.simulator.index import Box, Index, Mask
from nkiport.simulator.memory import ParDim, Storage, Tile, contiguous
from nkiport.simulator.options import Options
from nkiport.simulator.trace import Instruction, Trace

Level = tuple[int, str, int]
"""One loop a statement is in: the loop's number, its kind and the iteration."""

TRUTH_OPERANDS = frozenset({"condition", "predicate", "pred", "reduce_res", "dst", "bias", "scale"})
"""Operands that do not decide a result's type."""


class Machine:
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
        self._numbers = count(1)
        self._loops = count(1)
        self._iterations = 0
        self._legal: set[Any] = set()
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

    def parameter(self, values: Array, name: str, readers: Any) -> Tile:
        """Return a kernel's view of a host tensor: in HBM, read only."""
        tile = self.wrap(values, "private_hbm", name)
        tile.storage.read_only = True
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
                yield i
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

    def allocate(
        self, shape: Any, dtype: Any, buffer: Buffer, *, name: str = "", raw: Array | None = None
    ) -> Tile:
        """Return a tile of new memory; without ``raw`` nobody has written it."""
        sizes = self._sizes(shape)
        blocks = next((i for i, each in enumerate(shape) if isinstance(each, ParDim)), 0)
        kind = as_dtype(dtype)
        count_ = int(np.prod(sizes, dtype=np.int64))
        if buffer in {"sbuf", "psum"}:
            self._check_chip(sizes[blocks:], kind, buffer)
        self._claim(count_ * kind.itemsize)
        storage = Storage(
            number=next(self._numbers), raw=np.empty(0, np.uint8) if raw is None else raw,
            shape=sizes, dtype=kind, buffer=buffer, blocks=blocks, name=name,
            release=self._release,
        )  # fmt: skip
        self._hold(storage, 1)
        if raw is None:
            values = np.zeros(sizes, kind)
            if self.options.fresh == "nan":
                values.fill(poison(kind))
                storage.leave_undefined()
            storage.raw = values.reshape(-1).view(np.uint8)
        return Tile(self, storage, sizes, contiguous(sizes), 0, blocks)

    def wrap(self, values: Array, buffer: Buffer, name: str = "") -> Tile:
        """Return a tile over an array that an instruction made; no copy if it is contiguous."""
        flat = np.ascontiguousarray(values)
        return self.allocate(
            flat.shape, flat.dtype, buffer, name=name, raw=flat.reshape(-1).view(np.uint8)
        )

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

    def _check_chip(self, shape: tuple[int, ...], dtype: AnyDType, buffer: Buffer) -> None:
        if len(shape) < 2:  # noqa: PLR2004
            raise broken(
                "err_insufficient_rank", f"a {buffer} tile of shape {shape}",
                "a partition dimension and at least one free dimension", "use (n, 1)",
            )  # fmt: skip
        if shape[0] > self.target.partitions:
            raise RuleBroken(partition_limit(f"a {buffer} tile", shape[0], self.target))
        size = int(np.prod(shape[1:], dtype=np.int64)) * dtype.itemsize
        limit = self.target.sbuf_bytes if buffer == "sbuf" else self.target.psum_bytes
        if size > limit:
            raise broken(
                f"err_{buffer}_capacity", f"a tile of {size} bytes per partition",
                f"{limit} in {buffer}", "split the free dimensions into smaller tiles",
            )  # fmt: skip

    def _claim(self, size: int) -> None:
        if self.live["bytes"] + size > self.options.max_bytes:
            self.stop(f"{self.live['bytes'] + size} bytes of memory", f"{self.options.max_bytes}")

    def _hold(self, storage: Storage, sign: int) -> None:
        items = int(np.prod(storage.shape, dtype=np.int64)) * storage.dtype.itemsize
        self.live["bytes"] += sign * items
        if not storage.on_chip:
            return
        where = storage.buffer
        self.live[where] += sign * storage.partition_stride * storage.dtype.itemsize
        if self.live[where] > self.peak[where]:
            self.peak[where] = self.live[where]
            limit = self.target.sbuf_bytes if where == "sbuf" else self.target.psum_bytes
            if self.live[where] > limit:
                self.report(self._too_full(where, limit), "warning")

    def _too_full(self, where: str, limit: int) -> Problem:
        return Problem(
            f"err_{where}_capacity", f"{self.live[where]} bytes per partition are alive",
            f"{limit} in {where}", "smaller tiles, or fewer at one time: the compiler would spill",
        )  # fmt: skip

    def _release(self, storage: Storage) -> None:
        self._hold(storage, -1)

    # Reading and writing.

    def read(self, tile: Tile, mask: Mask | None) -> tuple[Array, Array | None]:
        """Return the values, a view where possible, and where nobody wrote (None: nowhere)."""
        storage = tile.storage
        storage.was_read = True
        tile.fresh = False
        if tile.blocks:
            raise broken(
                "err_failed_to_infer_tile_from_local_tensor", f"{tile!r} used whole",
                "one tile at a time", "index all of its block dimensions",
            )  # fmt: skip
        if tile.bounds or tile.indirect:
            return self._read_part(tile, mask)
        if storage.undefined is None:
            return tile.values(), None
        undefined = tile.over(storage.undefined, BOOL)
        return tile.values(), undefined if undefined.any() else None

    def _read_part(self, tile: Tile, mask: Mask | None) -> tuple[Array, Array | None]:
        region = self._region(tile, mask)
        values = np.full(tile.shape, poison(tile.dtype), tile.dtype)
        undefined = np.ones(tile.shape, np.bool_)
        if isinstance(region, np.ndarray) or tile.indirect:
            chosen = self._dense(tile, region)
            places = self._places(tile, chosen)
            flat = tile.storage.raw.view(tile.dtype)
            values[chosen] = flat[places]
            left = tile.storage.undefined
            undefined[chosen] = False if left is None else left.reshape(-1)[places]
        else:
            box = region if region is not None else tuple(slice(0, n) for n in tile.shape)
            values[box] = tile.values(box)
            left = tile.storage.undefined
            undefined[box] = False if left is None else tile.over(left, BOOL, box)
        return values, undefined if undefined.any() else None

    def _region(self, tile: Tile, mask: Mask | None) -> Box | Array | None:
        """The part of a view that a mask leaves, checked against the bounds."""
        if mask is None:
            tile.check_bounds(None)
            return None
        box = mask.box(tile.shape)
        if box is not None:
            tile.check_bounds(box)
            return box
        dense = np.broadcast_to(mask.values(), tile.shape)
        tile.check_bounds(None, dense)
        return dense

    def _dense(self, tile: Tile, region: Box | Array | None) -> Array:
        if isinstance(region, np.ndarray):
            return region
        chosen = np.zeros(tile.shape, np.bool_)
        chosen[region if region is not None else ...] = True
        return chosen

    def _places(self, tile: Tile, chosen: Array) -> Array:
        places = np.full(tile.shape, tile.offset, np.int64)
        for axis, (size, stride) in enumerate(zip(tile.shape, tile.strides, strict=True)):
            places += (stride * np.arange(size)).reshape(size, *(1,) * (tile.ndim - axis - 1))
        for values, stride, size in tile.indirect:
            rows = np.broadcast_to(values, tile.shape)
            used = rows[chosen]
            if used.size and (used.min() < 0 or used.max() >= size):
                raise broken(
                    "err_tensor_access_out_of_bound", f"row {used.min()} to {used.max()}",
                    f"0 to {size - 1}", "correct the index tile",
                )  # fmt: skip
            places += rows * stride
        result: Array = places[chosen]
        return result

    def write(
        self, tile: Tile, values: Array, undefined: Array | None = None, mask: Mask | None = None
    ) -> None:
        """Write values into a view, rounding to its type and broadcasting up to its shape."""
        storage = tile.storage
        if storage.read_only:
            raise broken(
                "err_cannot_update_immutable_parameter", f"a write into the input '{storage.name}'",
                "outputs are made by the kernel", "nl.ndarray(..., buffer=nl.shared_hbm), return it",
            )  # fmt: skip
        if tile.blocks:
            raise broken(
                "err_failed_to_infer_tile_from_local_tensor", f"a write into {tile!r} whole",
                "one tile at a time", "index all of its block dimensions",
            )  # fmt: skip
        new = np.broadcast_to(self._shaped(tile, cast(values, storage.dtype)), tile.shape)
        left = None if undefined is None else np.broadcast_to(
            self._shaped(tile, undefined), tile.shape
        )
        region = self._region(tile, mask)
        storage.written = True
        if isinstance(region, np.ndarray) or tile.indirect:
            self._scatter(tile, new, left, self._dense(tile, region))
        elif region is None:
            tile.values()[...] = new
            self._define(tile, left, None)
        else:
            tile.values(region)[...] = new[region]
            self._define(tile, None if left is None else left[region], region)

    def _shaped(self, tile: Tile, values: Array) -> Array:
        if values.ndim > tile.ndim or not fits(values.shape, tile.shape):
            if values.size == tile.size and values.shape[:1] == tile.shape[:1]:
                return values.reshape(tile.shape)
        elif all(
            a in {1, b}
            for a, b in zip(reversed(values.shape), reversed(tile.shape), strict=False)
        ):
            return values
        raise broken(
            "err_store_dst_shape_smaller_than_other_shape",
            f"a value of shape {values.shape} into a destination of shape {tile.shape}",
            "equal sizes, or 1 in the value", "index the destination to the value's shape",
        )  # fmt: skip

    def _scatter(self, tile: Tile, new: Array, left: Array | None, chosen: Array) -> None:
        places = self._places(tile, chosen)
        storage = tile.storage
        storage.raw.view(storage.dtype)[places] = new[chosen]
        if storage.undefined is not None:
            flat = storage.undefined.reshape(-1)
            storage.undefined_left -= int(np.unique(places[flat[places]]).size)
            flat[places] = False
            if not storage.undefined_left:
                storage.undefined = None
        if not storage.on_chip:
            self._stamp_places(storage, places)
            self._check_defined(storage, new[chosen], None if left is None else left[chosen])

    def _define(self, tile: Tile, left: Array | None, box: Box | None) -> None:
        """Keep track of what is written, and by which iteration."""
        storage = tile.storage
        if not storage.on_chip:
            if left is not None:
                self._check_defined(storage, tile.values(box), left)
                left = None
            self._stamp(tile, box)
        if left is not None:
            if storage.undefined is None:
                storage.undefined = np.zeros(storage.shape, np.bool_)
                storage.undefined_left = 0
            part = tile.over(storage.undefined, BOOL, box)
            storage.undefined_left += int(left.sum()) - int(part.sum())
            part[...] = left
        elif storage.undefined is not None:
            part = tile.over(storage.undefined, BOOL, box)
            storage.undefined_left -= int(part.sum())
            part[...] = False
        if storage.undefined is not None and storage.undefined_left <= 0:
            storage.undefined = None

    def _check_defined(self, storage: Storage, values: Array, left: Array | None) -> None:
        if left is None or not left.any():
            return
        self.report(
            Problem(
                "err_undefined_read", f"'{storage.name or 'output'}' gets {int(left.sum())} elements"
                " that no instruction wrote", "only written elements are stored",
                "mask the store like the load, or fill the tile first (nl.zeros, nisa.memset)",
            ),  # fmt: skip
            "error",
        )
        del values

    def _stamp(self, tile: Tile, box: Box | None) -> None:
        storage = tile.storage
        if not any(kind in {"affine_range", "SPMD"} for _, kind, _ in self.levels):
            return
        if storage.stamps is None:
            storage.stamps = np.zeros(storage.shape, np.int32)
        part = tile.over(storage.stamps, storage.stamps.dtype, box)
        if part.any():
            self._check_stamps(storage, part)
        part[...] = self.context()

    def _stamp_places(self, storage: Storage, places: Array) -> None:
        if storage.stamps is None:
            storage.stamps = np.zeros(storage.shape, np.int32)
        flat = storage.stamps.reshape(-1)
        self._check_stamps(storage, flat[places])
        flat[places] = self.context()

    def _check_stamps(self, storage: Storage, part: Array) -> None:
        for stamp in np.unique(part[part > 0]):
            kind = self._conflict(int(stamp))
            if kind:
                self.report(
                    Problem(
                        "err_unexpected_output_dependencies",
                        f"two iterations of {kind} write one location of "
                        f"'{storage.name or 'the output'}'",
                        "iterations that may run in parallel write different locations",
                        "index the output by the loop variable, or use nl.sequential_range",
                    ),
                    "error",
                )
                return

    # Instructions.

    def call(self, key: str, *args: Any, **kwargs: Any) -> Tile:
        """Run an operation by its key, as an operator or a method of a tile does."""
        op = OPS[key]
        given = dict(zip(op.parameters, args, strict=False))
        dtype = kwargs.pop("dtype", None)
        result: Tile = self.execute(op, {**given, **kwargs}, dtype=dtype)
        return result

    def execute(
        self, op: Op, given: Mapping[str, Any], *, dtype: Any = None, mask: Any = None
    ) -> Any:
        """Check and run one instruction; return its result as a new tile, or None."""
        if not self.kernel_depth:
            raise broken(
                "err_nki_api_outside_of_nki_kernel", f"{op.key} outside a kernel",
                "instructions run inside an @nki.jit function", "move it into a kernel",
            )  # fmt: skip
        self.tick()
        where = self._mask(mask)
        tiles = {name: each for name, each in given.items() if isinstance(each, Tile)}
        others = {n: each for n, each in given.items() if n not in tiles}
        self._check(op, tiles, others)
        arrays, undefined = self._arguments(op, tiles, where)
        values = {n: _plain(each) for n, each in others.items()}
        if "accumulator" in op.parameters:
            empty = np.zeros((self.target.partitions, 1), np.float32)
            values["accumulator"] = self._accumulators.setdefault(op.engine, empty)
        outcome = op.run(**values, **arrays)
        main, *written = outcome if op.writes else (outcome,)
        self._record(op, tiles, others, main)
        left = _spread(undefined, arrays, main if main is not None else written[0])
        made = None
        if op.result is not None and main is not None:
            made = self._result(op, tiles, others, np.asarray(main), dtype, left, where)
            self._made(made)
        for name, each in zip(op.writes, written, strict=True):
            if each is not None and name in tiles:
                spread = left if op.result is None else None
                self.write(tiles[name], np.asarray(each), spread, where)
        return made

    def _mask(self, mask: Any) -> Mask | None:
        if mask is None or isinstance(mask, Mask):
            return mask
        if isinstance(mask, bool | np.bool_):
            return None if mask else Mask(((Index(0, -1, ()), "ge"),))
        raise broken(
            "err_unsupported_expression_in_mask", f"mask={mask!r}",
            "comparisons of index expressions, joined by &", "use nl.where for conditions on data",
        )  # fmt: skip

    def _check(self, op: Op, tiles: Mapping[str, Tile], others: Mapping[str, Any]) -> None:
        operands = {name: tile.operand() for name, tile in tiles.items()}
        signs = tuple(
            (name, each if isinstance(each, str | int | tuple) else type(each))
            for name, each in others.items()
        )
        key = (op.key, tuple(operands.items()), signs)
        if key in self._legal:
            return
        attributes = {n: tuple(e) if isinstance(e, list) else e for n, e in others.items()}
        found = problems(op, Call(operands, attributes), self.target)
        for each in found[1:]:
            self.report(each, "error")
        if found:
            raise RuleBroken(found[0])
        self._legal.add(key)

    def _arguments(
        self, op: Op, tiles: Mapping[str, Tile], mask: Mask | None
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        arrays, undefined = {}, {}
        for name, tile in tiles.items():
            if name in op.writes and not op.reads_written:
                arrays[name] = tile.values() if not tile.bounds else np.empty(tile.shape)
                continue
            values, left = self.read(tile, mask)
            if op.reduces and mask is not None and name == next(iter(tiles)):
                values, left = self._reduced_part(values, left, mask)
            if not op.exact and values.dtype != FLOAT32:
                values = values.astype(np.float32)
            arrays[name] = values
            if left is not None:
                undefined[name] = left
        return arrays, undefined

    def _reduced_part(
        self, values: Array, left: Array | None, mask: Mask
    ) -> tuple[Array, Array | None]:
        box = mask.box(values.shape)
        if box is None:
            raise broken(
                "err_unsupported_expression_in_mask", "a reduction under a mask of two axes",
                "whole rows or columns", "replace the masked elements first (nl.where)",
            )  # fmt: skip
        free = (slice(None), *box[1:])
        return values[free], None if left is None else left[free]

    def _result(
        self,
        op: Op,
        tiles: Mapping[str, Tile],
        others: Mapping[str, Any],
        values: Array,
        dtype: Any,
        left: Array | None,
        mask: Mask | None,
    ) -> Tile:
        kind = as_dtype(dtype) if dtype is not None else self._type(op, tiles, others, values)
        rounded = cast(values, kind)
        place = op.place(_call(tiles, others))[1] if op.place else op.result
        result = self.wrap(rounded, place or "sbuf")
        result.fresh = True
        result.mask = mask
        if left is not None and is_float(kind):
            left = left & np.isnan(rounded)
        if mask is not None:
            left = self._outside(result, mask, left, reduces=op.reduces)
        if left is not None and left.any():
            result.storage.undefined = np.ascontiguousarray(left)
            result.storage.undefined_left = int(left.sum())
        return result

    def _outside(
        self, result: Tile, mask: Mask, left: Array | None, *, reduces: bool
    ) -> Array | None:
        """Poison what a mask keeps an instruction from writing."""
        out = np.zeros(result.shape, np.bool_) if left is None else left.copy()
        if reduces:
            box = mask.box((result.shape[0], *mask.shape[1:]))
            rows = np.ones(result.shape[0], np.bool_)
            rows[box[0] if box else slice(None)] = False
            out[rows] = True
            result.mask = None
        else:
            out |= ~np.broadcast_to(mask.values(), result.shape)
        result.values()[out] = poison(result.dtype)
        return out

    def _type(
        self, op: Op, tiles: Mapping[str, Tile], others: Mapping[str, Any], values: Array
    ) -> AnyDType:
        if op.result_dtype == "bool":
            return BOOL
        if op.result_dtype == "float32":
            return FLOAT32
        kinds = [t.dtype for name, t in tiles.items() if name not in TRUTH_OPERANDS]
        if not kinds:
            return values.dtype
        if op.result_dtype == "first":
            return kinds[0]
        if op.result_dtype == "floating":
            return kinds[0] if is_float(kinds[0]) else FLOAT32
        if op.namespace == "nl":
            scalars = (each for n, each in others.items() if n in {"x", "y"})
            kinds += [scalar_dtype(each) for each in scalars]
        result = kinds[0]
        for each in kinds[1:]:
            result = promote(result, each)
        return UINT8 if result == BOOL else result

    def _record(
        self, op: Op, tiles: Mapping[str, Tile], others: Mapping[str, Any], main: Any
    ) -> None:
        if len(self.instructions) >= self.options.max_instructions:
            self.stop("too many instructions", f"{self.options.max_instructions}")
        engine: Engine = op.engine
        asked = _plain(others.get("engine"))
        if op.place:
            engine = op.place(_call(tiles, others))[0]
        elif asked in {"vector", "scalar", "gpsimd"}:
            engine = asked
        work, partitions = _work(op, tiles, others, main)
        if op.kind == "dma":
            self._traffic(op, tiles)
        if op.kind == "matmul":
            self.flops += 2.0 * work.free * work.other * partitions
        self.instructions.append(
            Instruction(
                op.key, engine, op.kind, partitions, work, self.line(),
                tuple(t.storage.number for n, t in tiles.items() if n not in op.writes),
                tuple(t.storage.number for n, t in tiles.items() if n in op.writes),
            )  # fmt: skip
        )

    def _traffic(self, op: Op, tiles: Mapping[str, Tile]) -> None:
        for name, tile in tiles.items():
            if not tile.storage.on_chip:
                size = tile.size * tile.itemsize
                if name in op.writes:
                    self.bytes_written += size
                else:
                    self.bytes_read += size

    def _made(self, result: Tile) -> None:
        """Tie the last instruction to the storage of its result."""
        last = self.instructions[-1]
        self.instructions[-1] = last._replace(writes=(*last.writes, result.storage.number))

    # Assignment.

    def assign(self, target: Tile, value: Any) -> None:
        """``target[...] = value``: the last instruction's destination, or a copy."""
        if isinstance(value, Tile):
            if _same_place(target, value):
                return
            if target.buffer in {"private_hbm", "shared_hbm"} or not value.storage.on_chip:
                raise broken(
                    "err_unsupported_memory", f"an assignment from {value!r} to {target!r}",
                    "between tiles on chip", "use nl.load and nl.store",
                )  # fmt: skip
            if value.fresh:
                mask = value.mask
                values, left = self.read(value, None)
                self.write(target, values, left, mask)
                self._redirect(value, target)
                return
            copied = self.call("nl.copy", value, dtype=target.dtype)
            values, left = self.read(copied, None)
            self.write(target, values, left)
            return
        if not isinstance(value, int | float | np.generic):
            raise broken(
                "err_unsupported_assignment", f"{type(value).__name__} assigned to a tile",
                "a tile or a number",
            )  # fmt: skip
        self.execute_fill(target, value)

    def execute_fill(self, target: Tile, value: Any) -> None:
        """Fill a view with a number: one memset."""
        work = Work(target.operand().free, 0, target.dtype)
        self.write(target, np.asarray(value))
        self.instructions.append(
            Instruction(
                "nisa.memset", "vector", "compute", target.shape[0], work, self.line(), (),
                (target.storage.number,),
            )  # fmt: skip
        )

    def _redirect(self, value: Tile, target: Tile) -> None:
        if self.instructions and value.storage.number in self.instructions[-1].writes:
            last = self.instructions[-1]
            self.instructions[-1] = last._replace(
                writes=(*last.writes, target.storage.number)
            )

    def accumulate(self, name: str, target: Tile, value: Any) -> None:
        """``target += value``: into PSUM as part of the matmul, elsewhere one more instruction."""
        by_matmul = (
            name == "add" and target.buffer == "psum" and isinstance(value, Tile)
            and value.fresh and value.buffer == "psum"
        )  # fmt: skip
        if not by_matmul:
            result = self.call(f"nl.{name}", target, value)
            self.assign(target, result)
            return
        old, left = self.read(target, None)
        if left is not None:
            self.report(
                Problem(
                    "err_psum_accumulation", "+= into PSUM that nobody set to zero",
                    "an accumulator starts at zero", "make it with nl.zeros(..., buffer=nl.psum)",
                ),  # fmt: skip
                "error",
            )
        mask = value.mask
        new, _ = self.read(value, None)
        self.write(target, old + new.reshape(old.shape), left, mask)
        self._redirect(value, target)

    def trace(self) -> Trace:
        """Return what ran so far."""
        return Trace(
            tuple(self.instructions), self.bytes_read, self.bytes_written, self.flops,
            self.peak["sbuf"], self.peak["psum"],
        )  # fmt: skip


def _call(tiles: Mapping[str, Tile], others: Mapping[str, Any]) -> Call:
    plain = {name: _plain(each) for name, each in others.items()}
    return Call({name: tile.operand() for name, tile in tiles.items()}, plain)


def _plain(value: Any) -> Any:
    """An argument as an operation's ``run`` takes it."""
    if isinstance(value, Index | Mask):
        return value.values()
    return np.float32(value) if isinstance(value, np.generic) else value


def _same_place(a: Tile, b: Tile) -> bool:
    return (a.storage is b.storage) and (a.offset, a.shape, a.strides) == (
        b.offset, b.shape, b.strides,
    )  # fmt: skip


def _spread(undefined: Mapping[str, Array], arrays: Mapping[str, Array], main: Any) -> Array | None:
    """Where a result depends on elements nobody wrote: as finely as shapes tell."""
    if not undefined:
        return None
    shape = np.shape(main)
    out = np.zeros(shape, np.bool_)
    for name, left in undefined.items():
        if left.ndim <= len(shape) and fits(left.shape, shape) and left.size <= out.size:
            out |= left
        elif left.shape == shape[::-1]:
            out |= left.T
        elif left.shape[0] == shape[0] and arrays[name].shape[0] == shape[0]:
            rows = left.reshape(left.shape[0], -1).any(axis=1)
            out |= rows.reshape(-1, *(1,) * (len(shape) - 1))
        else:
            out[...] = True
    return out


def _work(
    op: Op, tiles: Mapping[str, Tile], others: Mapping[str, Any], main: Any
) -> tuple[Work, int]:
    """The sizes an instruction's cost is computed from, and its partitions."""
    if op.kind == "matmul":
        first, second = tiles.values()
        transposed = op.name == "matmul" and not others.get("transpose_x", False)
        depth = first.shape[1] if transposed else first.shape[0]
        columns = first.shape[0] if transposed else first.size // first.shape[0]
        work = Work(second.size // second.shape[0], columns, second.dtype)
        return work, depth
    sizes = [(t.size // max(1, t.shape[0]), t) for t in tiles.values()] if tiles else []
    shape = np.shape(main) if main is not None else ()
    free = max([size for size, _ in sizes] + [int(np.prod(shape[1:], dtype=np.int64))])
    lead = max((t for _, t in sizes), key=lambda t: t.size, default=None)
    dtype = lead.dtype if lead is not None else np.asarray(main).dtype
    rows = lead.shape[0] if lead is not None else shape[0]
    moved = max((t.size * t.itemsize for t in tiles.values()), default=0)
    wide = sum(1 for size, _ in sizes if size == free and free > 1)
    name = others.get("op", op.name)
    return (
        Work(
            free, rows, dtype, moved, max(1, wide),
            all(t.buffer == "sbuf" for t in tiles.values()), name if isinstance(name, str) else "",
        ),
        rows,
    )  # fmt: skip
