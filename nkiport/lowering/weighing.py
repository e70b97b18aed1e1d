"""The middle of a chain: row operations make weights of scores, which are turned for the product.

Heads that are worked on together have their weights beside each other in one tile.
"""

from nkiport.lowering.anchored import nest
from nkiport.lowering.chained import Chained
from nkiport.lowering.select import DTYPES, select

ENDS = "Zeros stand where the last tile of keys, or of rows, ends early."


def room(made: Chained) -> None:
    """Tiles for what several heads hand on."""
    if made.upright:
        made.writer.line(f"weights = nl.ndarray((KEYS, {_tiles(made)} * P), dtype=nl.float32)")
        return
    if made.heads == 1:
        return
    _weights_tile(made)
    for name in _places(made):
        if name != _root(made, made.weights):
            made.writer.line(f"{name} = nl.ndarray((P, {made.heads}), dtype=nl.float32)")


def _weights_tile(made: Chained) -> None:
    write, kind = made.writer, _kind(made)
    heads = f"{made.heads} * " if made.heads > 1 else ""
    if made.ragged:
        write.comment(ENDS)
        write.line(f"weights = nl.zeros((P, {heads}key_tiles * KEYS), dtype={kind})")
    else:
        write.line(f"weights = nl.ndarray((P, {heads}cols), dtype={kind})")


def weigh(made: Chained) -> None:
    """The row operations, on whole rows."""
    body, group = made.weight, made.weight.group
    own = {op.name for op in group.ops}
    for name in group.results:
        if name not in own:
            body.tiles[name] = "acc" if made.in_psum else "scores[i_p, i_c]"
    places = _places(made)
    for op in group.ops:
        body.tiles[op.name] = body.alias(op) or places.get(op.name, op.name)
    steps = {step.op.name: step for step in select(group, body.tiles, "cols", places)}
    held = {access for kernel, access in made.hoisted if kernel is body}
    for op in group.ops:
        for use in op.uses:
            access = group.reads.get(use)
            if access is not None and access not in held:
                body.load(access, columns="i_c", tail=False)
                held.add(access)
        if op.name in steps:
            body.step(steps[op.name])
    _settle(made)


def _settle(made: Chained) -> None:
    """The weights in a tile of their own where they need another dtype, ends, or company."""
    write, body, kind = made.writer, made.weight, _kind(made)
    tile = body.tiles[made.weights]
    several = made.heads > 1
    if several or made.ragged:
        if not several:
            _weights_tile(made)
        mask = ["mask=row < rows"] if made.ragged_rows else []
        if tile != _place(made):
            write.call(f"{_place(made)} = nl.copy(", [tile, *mask])
    elif kind != "nl.float32" or not tile.isidentifier():
        write.line(f"weights = nl.copy({tile}, dtype={kind})")
    else:
        return
    body.tiles[made.weights] = "weights"


def _places(made: Chained) -> dict[str, str]:
    """Where results go that outlive the loop over the heads."""
    if made.heads == 1:
        return {}
    places = {}
    for name in made.weight.group.stored:
        if name != made.weights:
            places[_root(made, name)] = f"{_root(made, name)}[i_p, h]"
        elif _kind(made) == "nl.float32" and not made.ragged:
            places[_root(made, name)] = _place(made)
    return places


def _place(made: Chained) -> str:
    """Where the weights of the present head lie."""
    wide = "key_tiles * KEYS" if made.ragged else "cols"
    return f"weights[i_p, h * {wide} + i_c]" if made.heads > 1 else "weights[i_p, i_c]"


def _root(made: Chained, name: str) -> str:
    """The operation that makes a value, if what seems to make it only renames."""
    body = made.weight
    renamed = {op.name: op.uses[0].value for op in body.group.ops if body.alias(op)}
    while name in renamed:
        name = renamed[name]
    return name


def _kind(made: Chained) -> str:
    return DTYPES[made.weight.program.dtype_of(made.weights)]


def _tiles(made: Chained) -> str:
    """How many tiles of weights there are."""
    return f"{made.heads} * key_tiles" if made.heads > 1 else "key_tiles"


def turn(made: Chained) -> None:
    """The weights with their keys on the partitions."""
    write, kind, tiles = made.writer, _kind(made), _tiles(made)
    write.line(f"turned = nl.ndarray((KEYS, {tiles} * P), dtype={kind})")
    engine = "scalar" if made.vector_adds or made.causal else "vector"
    with nest(write, _bank_loop(made, tiles)):
        if made.causal:
            write.line(f"many = min(TURNS, {tiles} - b * TURNS)")
            write.line("i_b = nl.arange(many * P)[None, :]")
        many = "many" if made.causal else "TURNS"
        write.line(f"bank = nl.ndarray((KEYS, {many} * P), dtype={kind}, buffer=nl.psum)")
        with write.block(f"for j in nl.affine_range({many}):"):
            given = f"{made.weight.tiles[made.weights]}[i_p, (b * TURNS + j) * KEYS + i_j]"
            write.call("bank[i_k, j * P + i_q] = nisa.nc_transpose(", [given])
        told = ["bank", f"engine=nisa.{engine}_engine"]
        write.call("turned[i_k, b * TURNS * P + i_b] = nisa.tensor_copy(", told)


def _bank_loop(made: Chained, tiles: str) -> str:
    """The loop over the banks in which weights are turned."""
    if made.causal:
        return f"for b in nl.static_range(math.ceil({tiles} / TURNS)):"
    return f"for b in nl.affine_range({tiles} // TURNS):"
