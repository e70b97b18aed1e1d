"""Emits a chain: scores by a product, weights from whole rows of them, values by a second product.

Keys and values of a batch element stay in SBUF; for each tile of rows, the scores are built in
PSUM and worked on in SBUF, the weights are turned on the tensor engine, and what a row is divided
by waits until its values are summed.
"""

from dataclasses import dataclass

from nkiport.lowering.anchored import nest
from nkiport.lowering.chains import ChainPlan
from nkiport.lowering.ir import Op, Program
from nkiport.lowering.kernel import Body, Launch, axes
from nkiport.lowering.matmul import Side, parameter_of, side_of
from nkiport.lowering.select import DTYPES, select
from nkiport.lowering.step import Step
from nkiport.lowering.writer import Writer

NAMES = frozenset(
    {"depth", "width", "KEYS", "N_TILE", "D_TILE", "key_tiles", "n_tiles", "i_q", "i_k", "i_j",
     "i_d", "i_e", "i_w", "i_c", "queries", "keys", "values", "scores", "weights", "turned",
     "strip", "acc", "d"}
)  # fmt: skip
"""What the kernel names itself, besides what every kernel does."""


@dataclass
class Chained:
    """A chain that is being written."""

    plan: ChainPlan
    writer: Writer
    score: Body
    weight: Body
    value: Body
    query: Side
    key: Side
    held: Side
    """The values, by which the weights are multiplied."""

    @property
    def ragged_rows(self) -> bool:
        """Whether the last tile of rows is smaller."""
        return bool(self.plan.chain.scores.sizes[-2] % self.plan.rows)

    @property
    def ragged_keys(self) -> bool:
        """Whether the last tile of keys is smaller."""
        cols = self.plan.chain.scores.sizes[-1]
        return bool(cols % self.plan.keys or cols % self.plan.columns)

    @property
    def parts(self) -> int:
        """Parts of the depth that lie on the partitions one after another."""
        return self.query.shape[-1] // self.plan.depth

    @property
    def loops(self) -> list[str]:
        """A loop for each batch dimension."""
        outer = range(len(self.plan.chain.scores.sizes) - 2)
        return [f"for o{n} in nl.affine_range(outer{n}):" for n in outer]

    @property
    def shared(self) -> int:
        """From which loop on keys and values stay the same: heads in a group share theirs."""
        sides = (self.key.access.strides[:-2], self.held.access.strides[:-2])
        varies = [n for steps in sides for n, step in enumerate(steps) if step]
        return max(varies, default=-1) + 1


def emit_chain(program: Program, plan: ChainPlan, writer: Writer) -> Launch:
    """Write the kernel and say how it is launched."""
    chain = plan.chain
    first, last = chain.scores.base, chain.values.base
    assert first  # noqa: S101 - a chain is built on two products
    assert last  # noqa: S101
    taken = {op.name for op in chain.ops} | NAMES
    score = Body(program, chain.scores, writer, "N_TILE", taken=taken)
    weight = Body(program, chain.weights, writer, "cols", taken=score.taken)
    value = Body(program, chain.values, writer, "width", taken=score.taken)
    uses = (*first.uses, last.uses[1])
    sides = [side_of(score, use, o) for use, o in zip(uses, ("rows", "cols", "cols"), strict=True)]
    made = Chained(plan, writer, score, weight, value, *sides)
    given = [parameter_of(score, side, use) for side, use in zip(sides, uses, strict=True)]
    given += [p for body in (score, weight, value) for p in body.parameters()]
    kernel = f"{chain.name}_kernel"
    writer.line("@nki.jit")
    with writer.block(f"def {kernel}({', '.join(p.name for p in given)}):"):
        kinds = ", ".join(dict.fromkeys(op.kind for op in chain.ops))
        writer.line(f'"""{f"Compute {chain.name}: {kinds}."[:90]}"""')
        shape = _sizes(made)
        _tiles(made)
        with nest(writer, *made.loops[: made.shared]):
            _keys(made)
            _values(made)
            with nest(writer, *made.loops[made.shared :]):
                _rows(made)
        writer.line("return out")
    return Launch(kernel, tuple(given), chain.stored, (shape,))


def _sizes(made: Chained) -> tuple[str, ...]:
    """Read the sizes, allocate the result; gives its shape as the host writes it."""
    write, value = made.writer, made.value
    write.line(f"rows = {made.query.size('rows')}")
    write.line(f"cols = {made.key.size('cols')}")
    write.line(f"depth = {made.query.size('k')}")
    write.line(f"width = {made.held.size('cols')}")
    sizes = made.plan.chain.values.sizes
    for axis, size in enumerate(sizes[:-2]):
        shaped = [
            s for s in (made.query, made.key, made.held) if s.plain and s.access.strides[axis]
        ]
        places = [f"{s.name}.shape[{axes(s.access.strides).index(axis)}]" for s in shaped]
        write.line(f"outer{axis} = {places[0] if places else size}")
    names = (*(f"outer{axis}" for axis in range(len(sizes) - 2)), "rows", "width")
    order = axes(value.group.results[value.group.name].strides)
    kind = DTYPES[value.program.dtype_of(value.group.name)]
    shape = f"({', '.join(names[axis] for axis in order)})"
    write.call("out = nl.ndarray(", [shape, f"dtype={kind}", "buffer=nl.shared_hbm"])
    return value.result_texts()[0]


def _tiles(made: Chained) -> None:
    write, plan = made.writer, made.plan
    write.line()
    write.comment(
        "Tiles of the rows lie on the partitions, as do, for the second product, tiles of the "
        "keys; a row of scores stays in SBUF, and is built a PSUM bank at a time."
    )
    write.line(f"P, KEYS, N_TILE, D_TILE = {plan.rows}, {plan.keys}, {plan.columns}, {plan.depth}")
    write.line("key_tiles = math.ceil(cols / KEYS)")
    write.line("n_tiles = math.ceil(cols / N_TILE)")
    write.line("i_p, i_q = nl.arange(P)[:, None], nl.arange(P)[None, :]")
    write.line("i_k, i_j = nl.arange(KEYS)[:, None], nl.arange(KEYS)[None, :]")
    write.line("i_e, i_d = nl.arange(D_TILE)[:, None], nl.arange(D_TILE)[None, :]")
    write.line("i_f = nl.arange(N_TILE)[None, :]")
    write.line("i_c = nl.arange(cols)[None, :]")
    write.line("i_w = nl.arange(width)[None, :]")
    lies = [a for b in (made.score, made.weight, made.value) for a in b.names]
    if any(access.strides[-2] == 0 for access in lies):
        write.line("i_p1 = nl.arange(1)[:, None]")
    if any(access.strides[-1] == 0 for access in lies):
        write.line("i_f1 = nl.arange(1)[None, :]")
    write.line()


def _keys(made: Chained) -> None:
    """Keys with their depth on the partitions."""
    write, key = made.writer, made.key
    write.comment("The keys, their depth on the partitions.")
    room = "key_tiles * KEYS" if not made.ragged_keys else "max(key_tiles * KEYS, n_tiles * N_TILE)"
    fill = "nl.zeros" if made.ragged_keys else "nl.ndarray"
    write.call(f"keys = {fill}(", [f"(D_TILE, {made.parts}, {room})", f"dtype={key.dtype}"])
    with write.block("for j in nl.affine_range(key_tiles):"):
        mask = "j * KEYS + {} < cols" if made.ragged_keys else ""
        _turned(made, key, "j * KEYS", ("i_k", "i_j"), "keys[i_e, {}, j * KEYS + i_j]", mask)


def _values(made: Chained) -> None:
    """Values with their keys on the partitions."""
    write, held = made.writer, made.held
    write.comment("The values, their keys on the partitions.")
    ragged = made.ragged_keys
    fill = "nl.zeros" if ragged else "nl.ndarray"
    write.call(f"values = {fill}(", ["(KEYS, key_tiles, width)", f"dtype={held.dtype}"])
    with write.block("for j in nl.affine_range(key_tiles):"):
        source = f"{held.name}[{held.index('i_w', 'j * KEYS + i_k')}]"
        mask = ["mask=j * KEYS + i_k < cols"] if ragged else []
        write.call("values[i_k, j, i_w] = nl.load(", [source, *mask])


def _turned(
    made: Chained, side: Side, start: str, index: tuple[str, str], target: str, mask: str
) -> None:
    """Bring a tile whose depth shall lie on the partitions; memory mostly has it along rows."""
    write = made.writer
    down, along = index
    size = "P" if side.other == "rows" else "KEYS"
    if not side.turned:
        for part in range(made.parts):
            source = f"{side.name}[{side.index(f'{start} + {along}', f'{part} * D_TILE + i_e')}]"
            given = [f"mask={mask.format(along)}"] if mask else []
            write.call(f"{target.format(part)} = nl.load(", [source, *given])
        return
    for part in range(made.parts):
        source = f"{side.name}[{side.index(f'{start} + {down}', f'{part} * D_TILE + i_d')}]"
        if mask:
            write.line(f"strip = nl.zeros(({size}, D_TILE), dtype={side.dtype})")
            write.call(f"strip[{down}, i_d] = nl.load(", [source, f"mask={mask.format(down)}"])
        else:
            write.call("strip = nl.load(", [source])
        write.line(f"{target.format(part)} = nl.copy(nisa.nc_transpose(strip))")


def _rows(made: Chained) -> None:
    """One tile of rows after another."""
    write = made.writer
    with write.block("for m in nl.affine_range(math.ceil(rows / P)):"):
        write.line("row = m * P + i_p")
        mask = "m * P + {} < rows" if made.ragged_rows else ""
        fill = "nl.zeros" if mask else "nl.ndarray"
        dtype = f"dtype={made.query.dtype}"
        write.call(f"queries = {fill}(", [f"(D_TILE, {made.parts}, P)", dtype])
        _turned(made, made.query, "m * P", ("i_p", "i_q"), "queries[i_e, {}, i_q]", mask)
        _scores(made)
        _weights(made)
        _product(made)


def _scores(made: Chained) -> None:
    """The first product, and what is done to each score, bank by bank."""
    write, body = made.writer, made.score
    base = body.group.base
    assert base  # noqa: S101 - the group is built on a product
    write.line("scores = nl.ndarray((P, n_tiles * N_TILE), dtype=nl.float32)")
    many = made.plan.chain.scores.sizes[-1] > made.plan.columns
    with nest(write, "for n in nl.affine_range(n_tiles):" if many else ""):
        write.line(f"col = {'n * N_TILE + ' if many else ''}i_f")
        _sum(made, "acc", "(P, N_TILE)", ["queries[i_e, {0}, i_q]", "keys[i_e, {0}, col]"])
        _after(made, body, base, "col", tail=made.ragged_keys, into="scores[i_p, col]")


def _sum(made: Chained, name: str, shape: str, operands: list[str]) -> None:
    """Sum the products of the parts of the depth in PSUM."""
    write = made.writer
    write.line(f"{name} = nl.zeros({shape}, dtype=nl.float32, buffer=nl.psum)")
    for part in range(made.parts):
        write.call(f"{name} += nisa.nc_matmul(", [each.format(part) for each in operands])


def _after(
    made: Chained, body: Body, base: Op, columns: str, *, tail: bool, into: str
) -> None:  # fmt: skip
    """What follows a product on its tile; the last result goes where it is told."""
    write = made.writer
    for each in body.group.ops:
        body.tiles[each.name] = "acc" if each is base else body.alias(each) or each.name
    steps = {step.op.name: step for step in select(body.group, body.tiles, body.width)}
    last = body.group.ops[-1]
    held = set()
    for each in body.group.ops:
        for use in () if each is base else each.uses:
            access = body.group.reads.get(use)
            if access is not None and access not in held:
                body.load(access, columns=columns, tail=tail)
                held.add(access)
        if each.name not in steps or each is base:
            continue
        if each is last and not steps[each.name].before and into:
            _write(body, steps[each.name], into)
            return
        body.step(steps[each.name])
    if into:
        write.line(f"{into} = nl.copy({body.tiles[last.name]})")


def _write(body: Body, step: Step, into: str) -> None:
    text = [*step.args, *(f"{key}={value}" for key, value in step.kwargs)]
    body.writer.call(f"{into} = {step.function}(", text)


def _weights(made: Chained) -> None:
    """The row operations, on whole rows."""
    body, group = made.weight, made.weight.group
    own = {op.name for op in group.ops}
    for name in group.results:
        if name not in own:
            body.tiles[name] = "scores[i_p, i_c]"
    for op in group.ops:
        body.tiles[op.name] = body.alias(op) or op.name
    steps = {step.op.name: step for step in select(group, body.tiles, "cols")}
    held = set()
    for op in group.ops:
        for use in op.uses:
            access = group.reads.get(use)
            if access is not None and access not in held:
                body.load(access, columns="i_c", tail=False)
                held.add(access)
        if op.name in steps:
            body.step(steps[op.name])


def _product(made: Chained) -> None:
    """Turn the weights, multiply, do what follows, and store."""
    write, body = made.writer, made.value
    base = body.group.base
    assert base  # noqa: S101 - the group is built on a product
    weights = _turned_weights(made, base)
    write.line("acc = nl.zeros((P, width), dtype=nl.float32, buffer=nl.psum)")
    with write.block("for j in nl.affine_range(key_tiles):"):
        write.line(f"acc += nisa.nc_matmul({weights}[i_k, j, i_q], values[i_k, j, i_w])")
    for name in made.weight.group.stored:
        body.tiles[name] = made.weight.tiles[name]
    _after(made, body, base, "i_w", tail=False, into="")
    _store(made, base)


def _turned_weights(made: Chained, base: Op) -> str:
    """The weights with their keys on the partitions."""
    write = made.writer
    name = base.uses[0].value
    tile = made.weight.tiles[name]
    kind = DTYPES[made.weight.program.dtype_of(name)]
    if kind != "nl.float32" or not tile.isidentifier():
        write.line(f"weights = nl.copy({tile}, dtype={kind})")
        tile = "weights"
    masks = ["(j * KEYS + {0} < cols)"] if made.ragged_keys else []
    masks += ["(m * P + {1} < rows)"] if made.ragged_rows else []
    mask = " & ".join(masks)
    fill = "nl.zeros" if mask else "nl.ndarray"
    write.line(f"turned = {fill}((KEYS, key_tiles, P), dtype={kind})")
    with write.block("for j in nl.affine_range(key_tiles):"):
        one = [f"mask={mask.format('i_j', 'i_p')}"] if mask else []
        two = [f"mask={mask.format('i_k', 'i_q')}"] if mask else []
        turn = ", ".join([f"{tile}[i_p, j * KEYS + i_j]", *one])
        write.call("turned[i_k, j, i_q] = nl.copy(", [f"nisa.nc_transpose({turn})", *two])
    return "turned"


def _store(made: Chained, base: Op) -> None:
    """Store the result's tile, in the order of memory it shall have."""
    body, write = made.value, made.writer
    name = body.group.name
    access = body.group.results[name]
    tile = body.tiles[name]
    if tile == "acc":
        write.line(f"{base.name}_tile = nl.copy(acc)")
        tile = f"{base.name}_tile"
    last = len(access.strides) - 1
    names = {last: "i_w", last - 1: "row"}
    at = ", ".join(names.get(axis, f"o{axis}") for axis in axes(access.strides))
    mask = ["mask=row < rows"] if made.ragged_rows else []
    write.call("nl.store(", [f"out[{at}]", tile, *mask])
