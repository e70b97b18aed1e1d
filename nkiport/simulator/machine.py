"""The machine: executes the instructions of one simulation."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from nkiport.nki import OPS, Call, Op, Problem, Work
from nkiport.nki.checks import places, problems
from nkiport.nki.dtypes import (
    FLOAT32,
    Array,
    as_dtype,
    cast,
    is_float,
    poison,
)
from nkiport.simulator.access import Access
from nkiport.simulator.errors import RuleBroken, broken
from nkiport.simulator.index import Mask, as_mask
from nkiport.simulator.masked import (
    Part,
    held,
    leave_out,
    matmul_parts,
    reduced_part,
    rows_of,
)
from nkiport.simulator.memory import Tile
from nkiport.simulator.plan import Plan, planned, signature
from nkiport.simulator.trace import Instruction, Trace
from nkiport.simulator.work import is_exact, plain, same_place, spread

NOT_ZERO = Problem(
    "err_psum_accumulation", "+= into PSUM that nobody set to zero",
    "an accumulator starts at zero", "make it with nl.zeros(..., buffer=nl.psum)",
)  # fmt: skip


class Machine(Access):
    """Checks, runs and records each instruction."""

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
        tiles, others = self._operands(op, given, mask)
        masks = dict.fromkeys(tiles, where)
        if op.kind == "matmul":
            tiles, masks, where = matmul_parts(op, tiles, others, where)
        values = self._values(op, others)
        key = signature(op, tiles, others, values)
        plan = self._plans.get(key)
        if plan is None:
            self._check(op, tiles, others)
        exact = plan.exact if plan else is_exact(op, others)
        arrays, undefined = self._arguments(op, tiles, masks, exact=exact)
        if op.kind == "matmul":
            cuts = {n: m for n, m in masks.items() if m is not where}
            leave_out(op, arrays, undefined, cuts, others)
        part = reduced_part(op, arrays, undefined, where, others)
        outcome = op.run(**values, **arrays)
        main, *written = outcome if op.writes else (outcome,)
        left = spread(op, values, undefined, arrays, main if main is not None else written[0])
        if part is not None:
            main, left = part.whole(main), part.whole(left)
        if plan is None:
            plan = self._plans[key] = planned(op, tiles, others, main)
        made = None
        if op.result is not None and main is not None:
            made = self._result(op, plan, tiles, others, np.asarray(main), dtype, left, where)
        self._record(op, plan, tiles, where, made)
        for name, each in zip(op.writes, written, strict=True):
            if each is not None and name in tiles:
                unwritten = left if op.result is None else None
                self._write_beside(name, tiles[name], np.asarray(each), unwritten, where, part)
        return made

    def _operands(
        self, op: Op, given: Mapping[str, Any], mask: Any
    ) -> tuple[dict[str, Tile], dict[str, Any]]:
        """The tiles of a call, where the instruction can reach them, and its other arguments."""
        tiles, others = {}, {}
        for name, each in given.items():
            if isinstance(each, Tile):
                astray = each.fresh and each.storage.buffer == "psum"
                tiles[name] = self._reachable(op, name, each, mask) if astray else each
            else:
                others[name] = each
        return tiles, others

    def _values(self, op: Op, others: Mapping[str, Any]) -> dict[str, Any]:
        """The other arguments as ``run`` takes them, with the engine's register of sums."""
        values = {n: plain(each) for n, each in others.items()}
        if op.writes and "accumulator" in op.parameters:
            if op.engine not in self._accumulators:
                self._accumulators[op.engine] = np.zeros((self.target.partitions, 1), np.float32)
            values["accumulator"] = self._accumulators[op.engine]
        return values

    def _write_beside(
        self, name: str, tile: Tile, new: Array, left: Array | None, mask: Mask | None,
        part: Part | None,
    ) -> None:  # fmt: skip
        """Write to a parameter: what is reduced by rows, all else as the result is."""
        if part is None or mask is None:
            self.write(tile, new, left, mask)
        elif name == "reduce_res":
            self.write(tile, new, None, rows_of(mask, part.shape, tile.ndim))
        else:
            self.write(tile, part.whole(new), left, mask)

    def _reachable(self, op: Op, name: str, tile: Tile, mask: Any) -> Tile:
        """Copy a result out of PSUM where an operand must be in SBUF.

        A result that no buffer was made for has no place of its own; the compiler gives it one.
        """
        if "psum" in places(op, name):
            return tile
        copied: Tile = self.execute(OPS["nl.copy"], {"src": tile}, mask=mask)
        return copied

    def _mask(self, mask: Any) -> Mask | None:
        if mask is None or isinstance(mask, Mask):
            return mask
        if isinstance(mask, bool | np.bool_):
            return None if mask else as_mask(value=False)
        raise broken(
            "err_unsupported_expression_in_mask", f"mask={mask!r}",
            "comparisons of index expressions, joined by &", "use nl.where for conditions on data",
        )  # fmt: skip

    def _check(self, op: Op, tiles: Mapping[str, Tile], others: Mapping[str, Any]) -> None:
        """Raise the first rule that the call breaks, and keep the others."""
        operands = {name: tile.operand() for name, tile in tiles.items()}
        attributes = {n: tuple(e) if isinstance(e, list) else e for n, e in others.items()}
        found = problems(op, Call(operands, attributes), self.target)
        for each in found[1:]:
            self.report(each, "error")
        if found:
            raise RuleBroken(found[0])

    def _arguments(
        self, op: Op, tiles: Mapping[str, Tile], masks: Mapping[str, Mask | None], *, exact: bool
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        arrays, undefined = {}, {}
        for name, tile in tiles.items():
            if name in op.writes and not op.reads_written:
                arrays[name] = tile.values() if not tile.bounds else np.empty(tile.shape)
                continue
            values, left = self.read(tile, masks[name])
            if not exact and values.dtype != FLOAT32:
                values = values.astype(np.float32)
            arrays[name] = values
            if left is not None:
                undefined[name] = left
        return arrays, undefined

    def _result(
        self,
        op: Op,
        plan: Plan,
        tiles: Mapping[str, Tile],
        others: Mapping[str, Any],
        values: Array,
        dtype: Any,
        left: Array | None,
        mask: Mask | None,
    ) -> Tile:
        kind = as_dtype(dtype) if dtype is not None else plan.kind
        rounded = cast(values, kind)
        result = self.wrap(rounded, plan.place)
        result.fresh = True
        if left is not None and is_float(kind):
            left = left & np.isnan(rounded)
        if mask is not None:
            first = next(iter(tiles.values()), result)
            here = held(op, mask, first.shape, result.shape, others)
            left = ~here if left is None else left | ~here
            result.values()[~here] = poison(result.dtype)
            result.mask = mask.turned() if op.turns else mask
            result.mask = None if op.reduces and not op.keeps_shape else result.mask
        if left is not None and left.any():
            result.storage.undefined = np.ascontiguousarray(left)
            result.storage.undefined_left = int(np.count_nonzero(left))
        return result

    def _record(
        self, op: Op, plan: Plan, tiles: Mapping[str, Tile], mask: Mask | None, made: Tile | None
    ) -> None:
        if len(self.instructions) >= self.options.max_instructions:
            self.stop("too many instructions", f"{self.options.max_instructions}")
        work = plan.work
        if op.kind == "dma":
            share = 1.0
            if mask is not None:
                share = mask.share(next(iter(tiles.values())).shape)
                work = work._replace(bytes=round(work.bytes * share))
            self._traffic(op, tiles, share)
        if op.kind == "matmul":
            self.flops += 2.0 * work.free * work.other * plan.partitions
        reads: list[int] = []
        writes: list[int] = []
        for name, tile in tiles.items():
            (writes if name in op.writes else reads).append(tile.room)
        if made is not None:
            writes.append(made.room)
        self.instructions.append(
            Instruction(
                op.key, plan.engine, op.kind, plan.partitions, work, self.line(), tuple(reads),
                tuple(writes),
            )
        )  # fmt: skip

    def record(self, op: Op, tiles: Mapping[str, Tile]) -> None:
        """Record an instruction that was carried out elsewhere."""
        self._record(op, planned(op, tiles, {}, None), tiles, None, None)

    def _traffic(self, op: Op, tiles: Mapping[str, Tile], share: float) -> None:
        """Count what passes HBM; what a mask leaves out does not."""
        for name, tile in tiles.items():
            if not tile.storage.on_chip:
                size = round(tile.size * tile.storage.dtype.itemsize * share)
                if name in op.writes:
                    self.bytes_written += size
                else:
                    self.bytes_read += size

    # Assignment.

    def assign(self, target: Tile, value: Any) -> None:
        """``target[...] = value``: the last instruction's destination, or a copy."""
        if isinstance(value, Tile):
            if same_place(target, value):
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
        """Fill a view with a number: one memset for each of its blocks."""
        blocks = math.prod(target.shape[: target.blocks])
        partitions, *free = target.shape[target.blocks :]
        work = Work(math.prod(free), 0, target.dtype)
        line, first = self.line(), target.room
        self.write(target.flat(), np.asarray(value))
        if target.buffer == "psum" and not value:
            return  # the first multiply of an accumulation overwrites: nothing is filled
        self.instructions.extend(
            Instruction(
                "nisa.memset", "vector", "compute", partitions, work, line, (), (first + block,)
            )
            for block in range(blocks)
        )  # fmt: skip

    def _redirect(self, value: Tile, target: Tile) -> None:
        if self.instructions and value.room in self.instructions[-1].writes:
            last = self.instructions[-1]
            self.instructions[-1] = last._replace(writes=(*last.writes, target.room))

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
            placed = target.storage.placed
            if not placed:
                self.report(NOT_ZERO, "warning" if self.options.own else "error")
            old = np.where(left, 0, old)
            left = None if self.options.own or placed else left
        mask = value.mask
        new, _ = self.read(value, None)
        self.write(target, old + new.reshape(old.shape), left, mask)
        self._redirect(value, target)

    def trace(self) -> Trace:
        """Return what ran so far."""
        return Trace(
            tuple(self.instructions), self.bytes_read, self.bytes_written, self.flops,
            self.peak["sbuf"], self.peak["psum"], tuple(self.rooms),
        )  # fmt: skip
