"""What follows a convolution whose tile of results has several rows beside each other.

A tile has positions of every second row, say, on the first 64 partitions and of those between on
the last 64, so that memory has other rows between its own.
"""

from nkiport.lowering.anchored import finish
from nkiport.lowering.conv import Conv
from nkiport.lowering.kernel import Scattered, times
from nkiport.lowering.space import Axis


def write_indices(conv: Conv) -> None:
    """Indices of all results, and of the channels of one row at the positions of a tile."""
    write = conv.body.writer
    write.comment(f"{conv.rows} rows of the result lie beside each other on the partitions.")
    write.line(f"M = {conv.rows} * P")
    write.line("i_m = nl.arange(M)[None, :]")
    write.line("j_p = nl.arange(P)[:, None, None, None]")


def write_rest(conv: Conv) -> None:
    """The operations after it, for one row of the result after the other."""
    body, write = conv.body, conv.body.writer
    with write.block(f"for r in nl.affine_range({conv.rows}):"):
        if _needs_rows(conv):
            write.line(f"row = {conv.row()}")
        body.scattered = Scattered("j_p, spot", conv.row("j_p"))
        write.line(f"col = {_column(conv)}")
        body.column_mask = _mask(conv)
        finish(body, conv.op, "acc[r * P + i_p, i_f]")


def _needs_rows(conv: Conv) -> bool:
    """Whether something with one value for each row is loaded or stored here."""
    body = conv.body
    stored = (body.group.results[name] for name in body.group.stored)
    return any(access.strides[-1] == 0 for access in {*body.names} - body.ready | {*stored})


def _column(conv: Conv) -> str:
    """Where a position lies among all of the result's."""
    _, height, width = conv.window.out
    depth, rows, columns = conv.axes
    terms = [times(_place(depth), height * width)] if depth.out > 1 else []
    terms.append(times(f"({_row(conv, rows)})", width))
    return " + ".join([*terms, _place(columns).strip("()")])


def _row(conv: Conv, axis: Axis) -> str:
    return f"{times(_place(axis), conv.rows)} + r"


def _place(axis: Axis) -> str:
    """The position along an axis."""
    own = f"o_{axis.name}"
    return f"({times(axis.name, axis.tile)} + {own})" if axis.tiles > 1 else own


def _mask(conv: Conv) -> str:
    """Which positions of a tile there are; empty if all."""
    depth, rows, columns = conv.axes
    height = conv.window.out[1]
    masks = [
        f"{_place(axis).strip('()')} < {axis.out}"
        for axis in (depth, columns)
        if axis.tiles * axis.tile > axis.out
    ]
    if rows.tiles * rows.tile * conv.rows > height:
        masks.append(f"{_row(conv, rows)} < {height}")
    return " & ".join(f"({mask})" for mask in masks) if masks[1:] else "".join(masks)
