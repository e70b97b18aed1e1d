"""Emits a chain: scores by a product, weights from whole rows of them, values by a second product.

Keys and values of a batch element stay in SBUF; for each tile of rows, the scores are built in
PSUM and worked on in SBUF, the weights are turned on the tensor engine, and what a row is divided
by waits until its values are summed.
"""

from dataclasses import replace

from nkiport.lowering.anchored import nest
from nkiport.lowering.chain import ChainPlan
from nkiport.lowering.chained import Chained, bring_keys, bring_queries, bring_values, varies
from nkiport.lowering.fusion import Group
from nkiport.lowering.ir import Op, Program, Use
from nkiport.lowering.kernel import Body, Launch, axes
from nkiport.lowering.matmul import parameter_of, side_of
from nkiport.lowering.select import DTYPES, number, select
from nkiport.lowering.step import Step
from nkiport.lowering.upright import constants, weigh_upright
from nkiport.lowering.weighing import room, turn, weigh
from nkiport.lowering.writer import Writer

NAMES = frozenset(
    {"depth", "width", "KEYS", "N_TILE", "D_TILE", "key_tiles", "n_tiles", "i_q", "i_k", "i_j",
     "i_d", "i_e", "i_w", "i_c", "queries", "keys", "values", "scores", "weights", "turned",
     "strip", "acc", "bank", "i_b", "F",
     "own", "hidden", "many", "BANKED", "i_n", "i_h", "i_v", "i_1",
     "i_t", "i_m", "i_r", "ones", "diagonal", "banks", "shifted", "most", "pairs", "greatest",
     "shift", "rows_shift", "spread", "TURNS", "i_s", "g", "h", "s", "t"}
)  # fmt: skip
"""What the kernel names itself, besides what every kernel does."""


def emit_chain(program: Program, plan: ChainPlan, writer: Writer) -> Launch:
    """Write the kernel and say how it is launched."""
    chain = plan.chain
    first, last = chain.scores.base, chain.values.base
    assert first  # noqa: S101 - a chain is built on two products
    assert last  # noqa: S101
    taken = {op.name for op in chain.ops} | NAMES
    scale, scores = _scale(program, chain.scores)
    score = Body(program, scores, writer, "N_TILE" if chain.hidden is None else "F", taken=taken)
    weight = Body(program, chain.weights, writer, "cols", taken=score.taken)
    value = Body(program, chain.values, writer, "width", taken=score.taken)
    uses = (*first.uses, last.uses[1])
    sides = [side_of(score, use, o) for use, o in zip(uses, ("rows", "cols", "cols"), strict=True)]
    query, key, held = sides
    made = Chained(plan, writer, score, weight, value, query, key, held, scale)
    given = [parameter_of(score, side, use) for side, use in zip(sides, uses, strict=True)]
    given += [p for body in (score, weight, value) for p in body.parameters()]
    kernel = f"{chain.name}_kernel"
    writer.line("@nki.jit")
    with writer.block(f"def {kernel}({', '.join(p.name for p in given)}):"):
        kinds = ", ".join(dict.fromkeys(op.kind for op in chain.ops))
        writer.line(f'"""{f"Compute {chain.name}: {kinds}."[:90]}"""')
        shape = _sizes(made)
        _tiles(made)
        _batch(made, 0)
        writer.line("return out")
    return Launch(kernel, tuple(given), chain.stored, (shape,))


def _scale(program: Program, group: Group) -> tuple[str, Group]:
    """The number that all scores are multiplied by, and the group without the operation."""
    base, *rest = group.ops
    query = base.uses[0]
    turned = query.strides[-1] == 1 and program.dtype_of(query.value) == "float32"
    if not rest or rest[0].kind not in {"mul", "div"} or not turned:
        return "", group
    use, by = rest[0].args
    if not isinstance(use, Use) or isinstance(by, Use) or use.value != base.name:
        return "", group
    if sum(use.value == base.name for op in rest for use in op.uses) > 1:
        return "", group
    return number(by) if rest[0].kind == "mul" else f"1.0 / {by}", replace(
        group, ops=(replace(base, name=rest[0].name), *rest[1:])
    )


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
        "Tiles of the keys lie on the partitions, so that weights need no turning before they are "
        "multiplied; the greatest score of a row is spread over the partitions by a product."
        if made.upright
        else "Tiles of the rows lie on the partitions, as do, for the second product, tiles of the "
        "keys; a row of scores stays in SBUF, and is built a PSUM bank at a time."
    )
    write.line(f"P, KEYS, N_TILE, D_TILE = {plan.rows}, {plan.keys}, {plan.columns}, {plan.depth}")
    write.line("key_tiles = math.ceil(cols / KEYS)")
    write.line("n_tiles = math.ceil(cols / N_TILE)")
    write.line("i_p, i_q = nl.arange(P)[:, None], nl.arange(P)[None, :]")
    write.line("i_k, i_j = nl.arange(KEYS)[:, None], nl.arange(KEYS)[None, :]")
    write.line("i_e, i_d = nl.arange(D_TILE)[:, None], nl.arange(D_TILE)[None, :]")
    if made.stack > 1:
        write.line(f"i_s = nl.arange({made.down})[:, None]")
    write.line("i_w = nl.arange(width)[None, :]")
    lies = [a for b in (made.score, made.weight, made.value) for a in b.names]
    if any(access.strides[-2] == 0 for access in lies):
        write.line("i_p1 = nl.arange(1)[:, None]")
    if any(access.strides[-1] == 0 for access in lies):
        write.line("i_f1 = nl.arange(1)[None, :]")
    if made.upright:
        constants(made)
    else:
        _of_rows(made)
    write.line()


def _of_rows(made: Chained) -> None:
    """Index expressions for scores whose rows lie on the partitions."""
    write = made.writer
    write.line("i_f = nl.arange(N_TILE)[None, :]")
    write.comment("So many turned tiles of weights leave PSUM together.")
    write.line(f"TURNS = {made.together}")
    write.line("i_b = nl.arange(TURNS * P)[None, :]")
    write.line("i_c = nl.arange(cols)[None, :]")
    if made.causal:
        _hidden(made)


def _batch(made: Chained, level: int) -> None:
    """The loops over the batch; what stays the same in a loop is loaded before it."""
    for body, access in made.hoisted:
        if level == varies(access):
            columns, width = ("i_w", "width") if body is made.value else ("i_c", "cols")
            body.load(access, columns=columns, tail=False, width=width)
    if level == made.shared:
        bring_keys(made)
        bring_values(made)
    if level == len(made.loops):
        _rows(made)
        return
    with made.writer.block(made.loops[level]):
        _batch(made, level + 1)


def _rows(made: Chained) -> None:
    """One tile of rows after another."""
    write = made.writer
    if made.heads > 1:
        write.comment("Heads take each step together: engines that would wait have another's work.")
    loop = "static_range(rows // P)" if made.causal else "affine_range(math.ceil(rows / P))"
    with write.block(f"for m in nl.{loop}:"):
        write.line("row = m * P + i_p")
        if made.causal:
            _seen(made)
        bring_queries(made)
        room(made)
        with nest(write, made.each_head):
            if made.loads_by_head:
                made.name_head()
            if made.upright:
                weigh_upright(made)
            else:
                _scores(made)
                weigh(made)
        if not made.upright:
            turn(made)
        with nest(write, made.each_head):
            made.name_head()
            _product(made)


def _seen(made: Chained) -> None:
    """How many keys the last row of the tile sees."""
    write = made.writer
    *_, rows, keys = made.plan.chain.scores.sizes
    write.comment("The rows of this tile see no more keys; those after them are left out.")
    before = f"{keys - rows} + " if keys > rows else ""
    write.line(f"cols = {before}(m + 1) * P")
    write.line("key_tiles = cols // KEYS")
    write.line("i_c = nl.arange(cols)[None, :]")


def _scores(made: Chained) -> None:
    """The first product, and what is done to each score, bank by bank."""
    write = made.writer
    if not made.in_psum:
        wide = "cols" if made.causal else "n_tiles * N_TILE"
        write.line(f"scores = nl.ndarray((P, {wide}), dtype=nl.float32)")
    with nest(write, _banks(made)):
        if made.causal:
            write.line("F = min(N_TILE, cols - P - n * N_TILE)")
            write.line("i_f = nl.arange(F)[None, :]")
        write.line("col = n * N_TILE + i_f" if _banks(made) else "col = i_f")
        _bank(made, "col")
        _after(made, made.score, "col", "" if made.in_psum else "scores[i_p, col]")
    if made.causal:
        _own(made)


def _own(made: Chained) -> None:
    """The scores of the keys that lie beside the rows themselves."""
    write, score = made.writer, made.score
    write.comment("Only the last keys, those of the rows themselves, are partly hidden.")
    write.line("own = cols - P + i_q")
    score.width = "P"
    _bank(made, "own")
    tile = _after(made, score, "own")
    write.call("scores[i_p, own] = nl.add(", [tile, "hidden"])
    score.width = "F"


def _bank(made: Chained, columns: str) -> None:
    """The product of a tile of rows and some keys."""
    write = made.writer
    write.line(f"acc = nl.zeros((P, {made.score.width}), dtype=nl.float32, buffer=nl.psum)")
    for part in range(made.parts):
        query, key = (made.depth(side, part) for side in (made.query, made.key))
        write.call("acc += nisa.nc_matmul(", [f"queries[{query}, i_q]", f"keys[{key}, {columns}]"])


def _hidden(made: Chained) -> None:
    """What is added to the scores of the rows' own keys, so that those after a row's count not."""
    fill = number(made.plan.chain.hidden or 0.0)
    made.writer.comment("Added to the scores of a row's own tile of keys: hides those after it.")
    shown = ["pred=i_p >= i_q", "on_true_tile=nl.zeros((P, P), dtype=nl.float32)"]
    made.writer.call("hidden = nisa.affine_select(", [*shown, f"on_false_value={fill}"])


def _banks(made: Chained) -> str:
    """The loop over the banks that a row of scores is built in."""
    if made.causal:
        return "for n in nl.static_range(math.ceil((cols - P) / N_TILE)):"
    return "" if made.one_bank else "for n in nl.affine_range(n_tiles):"


def _after(made: Chained, body: Body, columns: str, into: str = "") -> str:
    """What follows a product on its tile; the last result goes where it is told. Gives its tile."""
    write, base = made.writer, body.group.base
    tail = body is made.score and made.ragged_keys
    acc = "acc[i_p, i_w]" if made.upright and body is made.value else "acc"
    for use, lies in body.group.reads.items():
        if body is made.score and (body, lies) in made.hoisted and lies.strides[-1] != 0:
            body.tiles[use] = f"{body.loaded[lies]}[i_p, {columns}]"
    for each in body.group.ops:
        body.tiles[each.name] = acc if each is base else body.alias(each) or each.name
    steps = {step.op.name: step for step in select(body.group, body.tiles, body.width)}
    last = body.group.ops[-1]
    held = {access for kernel, access in made.hoisted if kernel is body}
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
            return into
        body.step(steps[each.name])
    if into:
        write.call(f"{into} = nisa.activation(", ["op=nl.copy", f"data={body.tiles[last.name]}"])
    return into or body.tiles[last.name]


def _write(body: Body, step: Step, into: str) -> None:
    text = [*step.args, *(f"{key}={value}" for key, value in step.kwargs)]
    body.writer.call(f"{into} = {step.function}(", text)


def _product(made: Chained) -> None:
    """Multiply, do what follows, and store."""
    write, body = made.writer, made.value
    base = body.group.base
    assert base  # noqa: S101 - the group is built on a product
    wide, columns = ("width + 1", "i_v") if made.upright else ("width", "i_w")
    write.line(f"acc = nl.zeros((P, {wide}), dtype=nl.float32, buffer=nl.psum)")
    with write.block("for j in nl.affine_range(key_tiles):"):
        at = "(h * key_tiles + j)" if made.heads > 1 else "j"
        left = "weights" if made.upright else "turned"
        operands = [f"{left}[i_k, {at} * P + i_q]", f"values[{made.values_at(columns)}]"]
        write.call("acc += nisa.nc_matmul(", operands)
    for name in made.weight.group.stored:
        total = "acc[i_p, width + i_1]"
        body.tiles[name] = total if made.upright else made.weight.tiles[name]
    _after(made, body, "i_w")
    _store(made, base)


def _store(made: Chained, base: Op) -> None:
    """Store the result's tile, in the order of memory it shall have."""
    body, write = made.value, made.writer
    name = body.group.name
    access = body.group.results[name]
    tile = body.tiles[name]
    if tile.startswith("acc"):
        write.line(f"{base.name}_tile = nl.copy({tile})")
        tile = f"{base.name}_tile"
    last = len(access.strides) - 1
    names = {last: "i_w", last - 1: "row"}
    at = ", ".join(names.get(axis, f"o{axis}") for axis in axes(access.strides))
    mask = ["mask=row < rows"] if made.ragged_rows else []
    write.call("nl.store(", [f"out[{at}]", tile, *mask])
