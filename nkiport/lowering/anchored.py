"""What kernels on an anchor share: the operations that follow it, on the tile it has just made."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

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


def load_shared(body: Body) -> None:
    """Load what all rows share once for a tile of columns, before the rows are walked."""
    for access in body.names:
        if access.strides[-2] == 0:
            body.load(access, columns="col", tail=True)


def finish(body: Body, op: Op, tile: str = "acc") -> None:
    """Compute what follows the anchor on its tile, and store what others need.

    ``row`` and ``col`` are known, and what all rows share is loaded.
    """
    body.tiles[op.name] = tile
    for each in body.group.ops:
        body.tiles[each.name] = tile if each is op else body.alias(each) or each.name
    held = {access for access in body.names if access.strides[-2] == 0}
    steps = {step.op.name: step for step in select(body.group, body.tiles, body.width)}
    for each in body.group.ops:
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
    pooled = op.kind == "pool" and len(op.uses) == 1
    if body.tiles[each.name] == tile and not pooled:
        kind = DTYPES[body.program.dtype_of(each.name)]
        copied = Step(op, "nl.copy", (tile,), (("dtype", kind),))
        name = f"{each.name}_tile"
        body.writer.call(
            f"{name} = {copied.function}(", [*copied.args, *(f"{k}={v}" for k, v in copied.kwargs)]
        )
        body.tiles[each.name] = name
    body.store(each.name, columns="col", tail=True)
