"""Row operations join the product that makes their rows, where a row of the result fits SBUF."""

from collections.abc import Sequence

from nkiport.lowering.chains import Part
from nkiport.lowering.fusion import Group, build, users_of
from nkiport.lowering.ir import Program
from nkiport.lowering.tiling import rows_fit
from nkiport.nki import Target


def rowed(program: Program, parts: Sequence[Part], target: Target) -> tuple[Part, ...]:
    """The parts, with those groups joined: nothing of the result's size is read back from HBM."""
    users = users_of(program)
    done = list(parts)
    at = 0
    while at < len(done):
        place = _product(done, at)
        product, rows = (done[place], done[at]) if place is not None else (None, None)
        if place is not None and isinstance(product, Group) and isinstance(rows, Group):
            both = build((*product.ops, *rows.ops), users, rowed=True)
            if both is not None and rows_fit(program, both, target):
                done[at] = both
                del done[place]
                continue
        at += 1
    return tuple(done)


def _product(parts: Sequence[Part], at: int) -> int | None:
    """Where the group on a product is whose rows the group at a place reduces.

    It moves up to that place, so nothing between them reads what it makes.
    """
    rows = parts[at]
    if not isinstance(rows, Group) or rows.base or not rows.reduces:
        return None
    read = {use.value for use in rows.reads}
    for place in range(at - 1, -1, -1):
        part = parts[place]
        if isinstance(part, Group) and part.base and part.base.kind == "matmul":
            between = {u.value for each in parts[place + 1 : at] for o in each.ops for u in o.uses}
            if read & set(part.stored) and not between & set(part.stored):
                return place
    return None
