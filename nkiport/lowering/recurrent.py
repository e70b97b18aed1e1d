"""Emits the steps of a recurrent layer: the hidden state never leaves SBUF."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nkiport.lowering.anchored import nest
from nkiport.lowering.fusion import Group
from nkiport.lowering.ir import FP32_BYTES, Op, Program, Recurrence, Use, detail_of, text_of
from nkiport.lowering.kernel import FLAT, Launch, Parameter, times
from nkiport.lowering.writer import Writer
from nkiport.nki import Target

ORDER: Mapping[str, tuple[int, ...]] = {
    "lstm": (0, 1, 3, 2), "gru": (0, 1, 2), "tanh": (0,), "relu": (0,),
}  # fmt: skip
"""PyTorch's number of each gate, in the order of the tiles: those of a sigmoid come first."""


@dataclass(frozen=True)
class RecurrentPlan:
    """``blocks`` tiles of ``rows`` hidden values; so many steps are loaded and stored together."""

    group: Group
    blocks: int
    rows: int
    steps: int


def recurrent_plan(group: Group, target: Target) -> RecurrentPlan:
    """The most steps whose gates fit beside the weights.

    Sums of all gates and a batch stand in one PSUM bank. Raises ``NotImplementedError`` where a
    step does not fit.
    """
    op = group.base
    assert op is not None  # noqa: S101 - the caller chose by it
    detail, hidden = detail_of(op, Recurrence), op.shape[0]
    gates = len(ORDER[detail.cell])
    if gates * detail.batch > target.psum_fmax:
        raise NotImplementedError(f"{op.name}: a batch of {detail.batch} in one step")
    blocks = math.ceil(hidden / target.partitions)
    rows = math.ceil(hidden / blocks)
    weights = gates * blocks * blocks * rows * FP32_BYTES
    step = 2 * (gates + 1) * blocks * detail.batch * FP32_BYTES
    room = (target.sbuf_bytes * 3 // 4 - weights) // step
    if room < 1:
        raise NotImplementedError(f"{op.name}: weights of {hidden} hidden values do not fit SBUF")
    most = min(room, max(1, target.moving_fmax // detail.batch))
    steps = max(n for n in range(1, most + 1) if detail.steps % n == 0)
    return RecurrentPlan(group, blocks, rows, steps)


def emit_recurrent(program: Program, plan: RecurrentPlan, writer: Writer) -> Launch:
    """Write the kernel and say how it is launched."""
    op = plan.group.base
    assert op is not None  # noqa: S101 - the plan is of one operation
    made = Steps(program, plan, op, detail_of(op, Recurrence), writer)
    shape = (str(op.shape[0]), str(op.shape[1]))
    kernel = f"{op.name}_kernel"
    writer.line("@nki.jit")
    with writer.block(f"def {kernel}({', '.join(made.names)}):"):
        writer.line(f'"""Walk along the {made.detail.steps} steps of a layer ({op.kind})."""')
        made.write()
        writer.line("return out")
    given = tuple(
        Parameter(
            name,
            use.value,
            FLAT if name in {"hidden", "cell"} else tuple(text_of(dim) for dim in use.dims),
        )
        for name, use in zip(made.names, op.uses, strict=True)
    )
    return Launch(kernel, given, (op.name,), (shape,))


@dataclass(frozen=True)
class Steps:
    """One kernel under construction."""

    program: Program
    plan: RecurrentPlan
    op: Op
    detail: Recurrence
    writer: Writer

    @property
    def names(self) -> list[str]:
        """The parameters: what each operand is, in order."""
        cell = ["cell"] if self.detail.cell == "lstm" else []
        names = ["gates", "weights", "hidden", *cell, "bias"]
        return names[: len(self.op.uses)]

    def write(self) -> None:
        """The body of the kernel."""
        write, plan, batch = self.writer, self.plan, self.detail.batch
        write.line(f"H, N, STEPS = {self.op.shape[0]}, {batch}, {plan.steps}")
        write.line(f"P, blocks = {plan.rows}, {plan.blocks}")
        columns = self.op.shape[1]
        write.line(f"out = nl.ndarray((H, {columns}), dtype=nl.float32, buffer=nl.shared_hbm)")
        write.line("i_p, i_k = nl.arange(P)[:, None], nl.arange(P)[None, :]")
        write.line("i_n, i_h = nl.arange(N)[None, :], nl.arange(H)[None, :]")
        write.line("i_c = nl.arange(STEPS * N)[None, :]")
        write.line(f"i_g = nl.arange({len(ORDER[self.detail.cell])} * N)[None, :]")
        if self.detail.cell in {"lstm", "gru"}:
            write.line(f"i_s = nl.arange({self._soft} * N)[None, :]")
        write.line("i_p3 = nl.arange(P)[:, None, None]")
        write.line("i_t3, i_n3 = nl.arange(STEPS)[None, :, None], nl.arange(N)[None, None, :]")
        write.line()
        self._weights()
        self._start()
        chunks = self.detail.steps // plan.steps
        with write.block(f"for t in nl.sequential_range({chunks}):"):
            write.line(f"c = {chunks - 1} - t" if self.detail.backward else "c = t")
            self._chunk()
        if self.detail.cell == "lstm":
            self._save("kept_cell", "i_n", f"{self.detail.steps} * N + i_n")

    @property
    def _soft(self) -> int:
        """How many gates are sigmoids."""
        return {"lstm": 3, "gru": 2}[self.detail.cell]

    def _weights(self) -> None:
        """Turn the weights once, so that the hidden values they are multiplied by are rows."""
        write, gates = self.writer, ORDER[self.detail.cell]
        write.comment("Weights turned: their columns, the hidden values of a step, lie on rows.")
        write.line(f"turned = nl.zeros((P, {len(gates)}, blocks, blocks, P), dtype=nl.float32)")
        with nest(write, "for j in nl.affine_range(blocks):"):
            for slot, gate in enumerate(gates):
                write.line("strip = nl.zeros((P, blocks * P), dtype=nl.float32)")
                row = f"{gate} * H + j * P + i_p"
                write.call("strip[i_p, i_h] = nl.load(", [f"weights[{row}, i_h]", *self._mask()])
                with nest(write, "for k in nl.affine_range(blocks):"):
                    write.line(
                        f"turned[i_p, {slot}, j, k, i_k] = "
                        "nl.copy(nisa.nc_transpose(strip[i_p, k * P + i_k]))"
                    )

    def _start(self) -> None:
        """The states before the first step; ``kept`` has a place for each step and one before."""
        write, by_name = self.writer, dict(zip(self.names, self.op.uses, strict=True))
        first = "STEPS * N + i_n" if self.detail.backward else "i_n"
        write.line("kept = nl.zeros((P, blocks, (STEPS + 1) * N), dtype=nl.float32)")
        if "cell" in by_name:
            write.line("kept_cell = nl.zeros((P, blocks, N), dtype=nl.float32)")
        if "bias" in by_name:
            write.line("late = nl.zeros((P, blocks, 1), dtype=nl.float32)")
        with write.block("for j in nl.affine_range(blocks):"):
            self._state(f"kept[i_p, j, {first}]", "hidden", by_name["hidden"])
            if "cell" in by_name:
                self._state("kept_cell[i_p, j, i_n]", "cell", by_name["cell"])
            if "bias" in by_name:
                one = "nl.arange(1)[None, :]"
                source = f"bias[j * P + i_p, {one}]"
                write.call(f"late[i_p, j, {one}] = nl.load(", [source, *self._mask()])

    def _state(self, target: str, name: str, use: Use) -> None:
        rows, columns = use.strides
        terms = [str(use.offset)] if use.offset else []
        terms += [times("(j * P + i_p)", rows), times("i_n", columns)]
        self.writer.call(f"{target} = nl.load(", [f"{name}[{' + '.join(terms)}]", *self._mask()])

    def _mask(self, rows: str = "i_p") -> list[str]:
        whole = self.plan.rows * self.plan.blocks == self.op.shape[0]
        return [] if whole else [f"mask=j * P + {rows} < H"]

    def _chunk(self) -> None:
        write, gates, back = self.writer, ORDER[self.detail.cell], self.detail.backward
        write.line(f"given = nl.zeros((P, blocks, STEPS, {len(gates)} * N), dtype=nl.float32)")
        with write.block("for j in nl.affine_range(blocks):"):
            for slot, gate in enumerate(gates):
                row = f"{gate} * H + j * P + i_p3"
                target = f"given[i_p3, j, i_t3, {slot} * N + i_n3]"
                source = f"gates[{row}, (c * STEPS + i_t3) * N + i_n3]"
                write.call(f"{target} = nl.load(", [source, *self._mask("i_p3")])
        with write.block("for s in nl.sequential_range(STEPS):"):
            write.line("at = STEPS - 1 - s" if back else "at = s")
            before, after = ("at + 1", "at") if back else ("at", "at + 1")
            with write.block("for j in nl.affine_range(blocks):"):
                self._sums(f"({before}) * N + i_n")
                STEP[self.detail.cell](self, f"({before}) * N + i_n", f"({after}) * N + i_n")
        self._save("kept", f"{'i_c' if back else 'N + i_c'}", "c * STEPS * N + i_c")
        if self.detail.steps > self.plan.steps:
            last, first = ("i_n", "STEPS * N + i_n") if back else ("STEPS * N + i_n", "i_n")
            with write.block("for j in nl.affine_range(blocks):"):
                write.line(f"kept[i_p, j, {first}] = nl.copy(kept[i_p, j, {last}])")

    def _sums(self, before: str) -> None:
        """What the hidden state before adds to each gate."""
        write = self.writer
        gates = len(ORDER[self.detail.cell])
        write.line(f"sums = nl.zeros((P, {gates} * N), dtype=nl.float32, buffer=nl.psum)")
        with nest(
            write, f"for g in nl.affine_range({gates}):", "for k in nl.affine_range(blocks):"
        ):
            write.call(
                "sums[i_p, g * N + i_n] += nisa.nc_matmul(",
                ["turned[i_p, g, j, k, i_k]", f"kept[i_p, k, {before}]"],
            )

    def _save(self, tile: str, columns: str, at: str) -> None:
        with self.writer.block("for j in nl.affine_range(blocks):"):
            self.writer.call(
                "nl.store(",
                [f"out[j * P + i_p, {at}]", f"{tile}[i_p, j, {columns}]", *self._mask()],
            )


Step = Callable[[Steps, str, str], None]
"""Writes a step, given the columns of the hidden state before and after it."""


def _plain(function: str) -> Step:
    def step(made: Steps, _before: str, after: str) -> None:
        made.writer.line(
            f"kept[i_p, j, {after}] = {function}(nl.add(sums, given[i_p, j, at, i_g]))"
        )

    return step


def _lstm(made: Steps, _before: str, after: str) -> None:
    write = made.writer
    write.line("gate = nl.add(sums, given[i_p, j, at, i_g])")
    write.line("share = nl.sigmoid(gate[i_p, i_s])")
    write.line("new = nl.multiply(share[i_p, i_n], nl.tanh(gate[i_p, 3 * N + i_n]))")
    write.line("held = nl.multiply(share[i_p, N + i_n], kept_cell[i_p, j, i_n])")
    write.line("kept_cell[i_p, j, i_n] = nl.add(held, new)")
    write.line("shown = nl.tanh(kept_cell[i_p, j, i_n])")
    write.line(f"kept[i_p, j, {after}] = nl.multiply(share[i_p, 2 * N + i_n], shown)")


def _gru(made: Steps, before: str, after: str) -> None:
    write = made.writer
    write.line("share = nl.sigmoid(nl.add(sums[i_p, i_s], given[i_p, j, at, i_s]))")
    inner = "sums[i_p, 2 * N + i_n]"
    if "bias" in made.names:
        write.line(f"inner = nl.add({inner}, late[i_p, j, nl.arange(1)[None, :]])")
        inner = "inner"
    write.line(f"reset = nl.multiply(share[i_p, i_n], {inner})")
    write.line("new = nl.tanh(nl.add(reset, given[i_p, j, at, 2 * N + i_n]))")
    write.line(f"way = nl.subtract(kept[i_p, j, {before}], new)")
    write.line(f"kept[i_p, j, {after}] = nl.add(new, nl.multiply(share[i_p, N + i_n], way))")


STEP: Mapping[str, Step] = {
    "lstm": _lstm, "gru": _gru, "tanh": _plain("nl.tanh"), "relu": _plain("nl.relu"),
}  # fmt: skip
"""What one step of each cell does with ``sums`` and ``given``."""
