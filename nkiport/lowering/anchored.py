"""What kernels on an anchor share: the operations that follow it, on the tile it has just made."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from nkiport.lowering.fusion import Access
from nkiport.lowering.ir import Op
from nkiport.lowering.kernel import Body
from nkiport.lowering.select import DTYPES, select
from nkiport.lowering.step import Step
from nkiport.lowering.writer import Writer


@contextmanager
def nest(write: Writer, *heads: str) -> Iterator[None]:
    """Loops within each other; an empty head is no loop."""
    with ExitStack() as stack:
        for head in heads:
            if head:
                stack.enter_context(write.block(head))
        yield


def load_shared(body: Body, width: str = "") -> None:
    """Load what all rows share once for a tile of columns, before the rows are walked.

    ``width`` is how many columns that are, if not a tile of this kernel.
    """
    for access in body.names:
        if access.strides[-2] == 0:
            body.load(access, columns="col", tail=True, width=width)


def fixed(body: Body) -> frozenset[Access]:
    """Operands that have one value for each row, whatever the position and the outer index."""
    return frozenset(access for access in body.names if _by_row(access))


def _by_row(access: Access) -> bool:
    return _narrow(access) and not any(access.strides[:-2])


def load_fixed(body: Body, op: Op, row: str, tile: str = "") -> None:
    """Load such operands before positions are walked, and compute what depends on them alone.

    ``op`` is the anchor. ``row`` gives the rows, perhaps of several tiles beside each other; then
    ``tile`` is the number of the one that is worked on.
    """
    body.tiles[op.name] = "acc"
    body.ready |= fixed(body)
    if not body.ready:
        return
    body.writer.comment("These have one value for each row, whatever the position.")
    body.writer.line(f"row = {row}")
    for access in body.names:
        if access in body.ready:
            body.load(access, columns="col", tail=True)
    steps = {step.op.name: step for step in select(body.group, body.tiles, body.width)}
    for each in body.group.ops:
        if _follows(body, each):
            body.done.add(each.name)
            if each.name in steps:
                body.step(steps[each.name])
    if tile:
        _pick(body, tile)


def _follows(body: Body, op: Op) -> bool:
    """Whether an operation needs nothing but what is ready."""
    ready = all(
        use.value in body.done or body.group.reads.get(use) in body.ready for use in op.uses
    )
    return ready and op.name not in body.group.stored and _by_row(body.group.results[op.name])


def _pick(body: Body, tile: str) -> None:
    """From now on, name the column of the tile that is worked on."""
    for use, access in body.group.reads.items():
        if access in body.ready:
            body.tiles[use] = f"{body.tiles[use]}[i_p, {tile}]"
    for name in body.done:
        whole = body.tiles[name]
        body.tiles[name] = whole if whole.endswith("]") else f"{whole}[i_p, {tile}]"


def narrow(body: Body) -> list[Access]:
    """What has one value for each row."""
    return [access for access in body.names if _narrow(access)]


def _narrow(access: Access) -> bool:
    return access.strides[-1] == 0 and access.strides[-2] != 0


def load_narrow(body: Body) -> None:
    """Load that for a tile of rows, before the columns are walked."""
    for access in narrow(body):
        body.load(access, columns="i_f1", tail=False)


def finish(body: Body, op: Op, tile: str = "acc", held: Iterable[Access] = ()) -> None:
    """Compute what follows the anchor on its tile, and store what others need.

    ``row`` and ``col`` are known; what all rows share is loaded, and what ``held`` names.
    """
    body.tiles[op.name] = tile
    left = [each for each in body.group.ops if each.name not in body.done]
    for each in left:
        body.tiles[each.name] = tile if each is op else body.alias(each) or each.name
    shared = {access for access in body.names if access.strides[-2] == 0}
    held = {*held} | shared | body.ready
    steps = {step.op.name: step for step in select(body.group, body.tiles, body.width)}
    for each in left:
        for use in () if each is op else each.uses:
            access = body.group.reads.get(use)
            if access is not None and access not in held:
                body.load(access, columns="col", tail=True)
                held.add(access)
        if each.name in steps:
            body.step(steps[each.name])
        if each.name in body.group.stored:
            _store(body, each, op, tile)


def _store(body: Body, each: Op, op: Op, tile: str) -> None:
    """Store; what still is in PSUM is copied to SBUF first, for DMA cannot read PSUM."""
    if body.tiles[each.name] == tile:
        kind = DTYPES[body.program.dtype_of(each.name)]
        copied = Step(op, "nl.copy", (tile,), (("dtype", kind),))
        name = f"{each.name}_tile"
        body.writer.call(
            f"{name} = {copied.function}(", [*copied.args, *(f"{k}={v}" for k, v in copied.kwargs)]
        )
        body.tiles[each.name] = name
    body.store(each.name, columns="col", tail=True)
