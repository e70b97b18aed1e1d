"""Emits a group without a matmul: tiles of 128 rows, whole or in tiles of columns."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from nkiport.lowering.fusion import Access, Group
from nkiport.lowering.ir import Op, Program, Use
from nkiport.lowering.kernel import Body, Launch
from nkiport.lowering.rules import REDUCTIONS
from nkiport.lowering.select import select
from nkiport.lowering.step import Step
from nkiport.lowering.tiling import RowPlan
from nkiport.lowering.writer import Writer


def emit_rows(program: Program, plan: RowPlan, writer: Writer) -> Launch:
    """Write the kernel and say how it is launched."""
    body = Body(program, plan.group, writer, "cols" if plan.resident else "F")
    steps = {step.op.name: step for step in select(plan.group, body.tiles, body.width)}
    kernel = f"{plan.group.name}_kernel"
    parameters = body.parameters()
    writer.line("@nki.jit")
    with writer.block(f"def {kernel}({', '.join(p.name for p in parameters)}):"):
        writer.line(f'"""{summary(plan.group)}"""')
        names = body.names_of_sizes()
        body.read_sizes(names)
        body.allocate(names)
        _tiles(body, plan)
        if plan.resident:
            _resident(body, steps)
        else:
            _streamed(body, steps)
        outs = ", ".join(body.out(name) for name in plan.group.stored)
        writer.line(f"return {outs}")
    return Launch(kernel, parameters, plan.group.stored, body.result_texts())


def summary(group: Group) -> str:
    """One line on what the kernel computes."""
    kinds = list(dict.fromkeys(op.kind for op in group.ops))
    shown = ", ".join(kinds[:6]) + (", ..." if len(kinds) > 6 else "")  # noqa: PLR2004
    return f"Compute {', '.join(group.stored)}: {shown}."[:90]


def _tiles(body: Body, plan: RowPlan) -> None:
    """Say how large the tiles are, and why."""
    write = body.writer
    write.line()
    write.comment("A tile has as many rows as there are partitions; the last one is masked.")
    write.line("P = nl.tile_size.pmax")
    if plan.resident:
        write.comment(
            f"A whole row stays in SBUF: at most {plan.alive} fp32 tiles of this width are alive, "
            f"twice over, which fits up to {plan.limit} columns."
        )
    else:
        write.comment(
            f"Rows are walked in tiles of columns: {plan.alive} fp32 tiles, twice over, fit up to "
            f"{plan.limit} columns, and {plan.columns} make each DMA run long enough."
        )
        write.line(f"F = min(cols, {plan.columns})")
        write.line("col_tiles = math.ceil(cols / F)")
    write.line("i_p = nl.arange(P)[:, None]")
    write.line(f"i_f = nl.arange({body.width})[None, :]")
    accesses = [*body.names, *(body.group.results[name] for name in body.group.stored)]
    if any(access.strides[-2] == 0 for access in accesses):
        write.line("i_p1 = nl.arange(1)[:, None]")
    if any(access.strides[-1] == 0 for access in accesses):
        write.line("i_f1 = nl.arange(1)[None, :]")


@contextmanager
def _row_loop(body: Body) -> Iterator[None]:
    write = body.writer
    with ExitStack() as loops:
        for axis, name in enumerate(body.names_of_sizes()[:-2]):
            loops.enter_context(write.block(f"for o{axis} in nl.affine_range({name}):"))
        loops.enter_context(write.block("for r in nl.affine_range(math.ceil(rows / P)):"))
        write.line("row = r * P + i_p")
        yield


def _constant(access: Access) -> bool:
    """Whether one tile of the operand serves every row and every outer iteration."""
    return all(step == 0 for step in access.strides[:-1])


def _resident(body: Body, steps: dict[str, Step]) -> None:
    write = body.writer
    held = [access for access in body.names if _constant(access)]
    for access in held:
        body.load(access, columns="i_f", tail=False)
    write.line()
    with _row_loop(body):
        _straight(body, steps, body.group.ops, set(held), columns="i_f", tail=False)


def _straight(
    body: Body, steps: dict[str, Step], ops: Iterable[Op], held: set[Access], *, columns: str,
    tail: bool,
) -> None:  # fmt: skip
    """Load what each operation needs just before it, compute, store what others need."""
    for op in ops:
        for use in op.uses:
            _need(body, use, held, columns=columns, tail=tail)
        if op.name in steps:
            body.step(steps[op.name])
        if op.name in body.group.stored:
            body.store(op.name, columns=columns, tail=tail)


def _need(body: Body, use: Use, held: set[Access], *, columns: str, tail: bool) -> None:
    access = body.group.reads.get(use)
    if access is not None and access not in held:
        body.load(access, columns=columns, tail=tail)
        held.add(access)


def levels(group: Group) -> dict[str, int]:
    """How many passes over the columns must end before a result can be computed."""
    found: dict[str, int] = {}
    for op in group.ops:
        ready = max((found.get(use.value, 0) for use in op.uses), default=0)
        found[op.name] = ready + (op.kind in REDUCTIONS)
    return found


def _streamed(body: Body, steps: dict[str, Step]) -> None:
    level = levels(body.group)
    body.writer.line()
    with _row_loop(body):
        held: set[Access] = set()
        for turn in range(max(level.values()) + 1):
            _narrow(body, steps, level, turn, held)
            _pass(body, steps, level, turn, held)


def _narrow(
    body: Body, steps: dict[str, Step], level: dict[str, int], turn: int, held: set[Access]
) -> None:
    """What has one number for each row, and can be computed by now."""
    ops = [
        op for op in body.group.ops
        if not body.wide_result(op.name) and level[op.name] == turn and op.kind not in REDUCTIONS
    ]  # fmt: skip
    _straight(body, steps, ops, held, columns="i_f1", tail=False)


def _pass(
    body: Body, steps: dict[str, Step], level: dict[str, int], turn: int, held: set[Access]
) -> None:
    """One walk over the columns: finish this level's reductions, store its full results."""
    group, write = body.group, body.writer
    sums = [op for op in group.ops if op.kind in REDUCTIONS and level[op.name] == turn + 1]
    kept = [op for op in group.ops if op.name in group.stored and body.wide_result(op.name)]
    kept = [op for op in kept if level[op.name] == turn]
    if not sums and not kept:
        return
    ops = _needed(body, [*sums, *kept])
    for op in ops:
        for use in op.uses:
            if use in group.reads and not body.wide(use):
                _need(body, use, held, columns="i_f1", tail=False)
    for op in sums:
        write.line(f"{op.name}_parts = nl.ndarray((P, col_tiles), dtype=nl.float32)")
    with write.block("for c in nl.affine_range(col_tiles):"):
        write.line("col = c * F + i_f")
        _columns(body, steps, ops, set(held), {op.name for op in kept})
    for op in sums:
        function = "nl.sum" if op.kind == "mean" else steps[op.name].function
        kwargs = (("axis", "1"), ("keepdims", "True"))
        body.step(Step(op, function, (f"{op.name}_parts",), kwargs))
        if op.name in group.stored:
            body.store(op.name, columns="i_f1", tail=False)


def _columns(
    body: Body, steps: dict[str, Step], ops: list[Op], held: set[Access], kept: set[str]
) -> None:
    """The inside of one walk."""
    for op in ops:
        for use in op.uses:
            _need(body, use, held, columns="col", tail=True)
        if op.kind in REDUCTIONS:
            step = steps[op.name]
            args = [*step.args, *(f"{k}={v}" for k, v in step.kwargs), "mask=col < cols"]
            body.writer.call(f"{op.name}_parts[i_p, c] = {step.function}(", args)
        elif op.name in steps:
            body.step(steps[op.name])
        if op.name in kept:
            body.store(op.name, columns="col", tail=True)


def _needed(body: Body, targets: list[Op]) -> list[Op]:
    """The operations a walk computes: what the targets need, down to one number for each row."""
    made = {op.name: op for op in body.group.ops}
    names = {op.name for op in targets}
    for op in reversed(body.group.ops):
        if op.name in names:
            names |= {
                use.value for use in op.uses if use.value in made and body.wide_result(use.value)
            }
    return [op for op in body.group.ops if op.name in names]
