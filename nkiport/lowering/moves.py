"""Emits kernels that move data or walk along it: assemblies, ranges, gathers, scans."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from nkiport.lowering.anchored import nest
from nkiport.lowering.ir import (
    Assembly,
    Op,
    Piece,
    Program,
    Running,
    Shape,
    Span,
    Use,
    detail_of,
    text_of,
)
from nkiport.lowering.kernel import FLAT, PARTITIONS, Launch, Parameter, times
from nkiport.lowering.select import DTYPES, number
from nkiport.lowering.tiling import SoloPlan
from nkiport.lowering.writer import Writer

Run = tuple[int, int, int]
"""A size, and the strides with which it is read and written."""


def emit_solo(program: Program, plan: SoloPlan, writer: Writer) -> Launch:
    """Write the kernel and say how it is launched."""
    op = plan.group.base
    assert op is not None  # noqa: S101 - the plan is of one operation
    names = _names(op)
    kernel = f"{op.name}_kernel"
    flat = op.kind == "assembly"
    shape = (str(math.prod(op.shape)),) if flat else _shape(op)
    writer.line("@nki.jit")
    with writer.block(f"def {kernel}({', '.join(names)}):"):
        writer.line(f'"""{DOCS[op.kind]}"""')
        comma = "," if len(shape) == 1 else ""
        kind = DTYPES[op.dtype]
        writer.call(
            "out = nl.ndarray(",
            [f"({', '.join(shape)}{comma})", f"dtype={kind}", "buffer=nl.shared_hbm"],
        )
        writer.line("P = nl.tile_size.pmax")
        writer.line("i_p = nl.arange(P)[:, None]")
        WRITERS[op.kind](program, op, names, plan.columns, writer)
        writer.line("return out")
    given = tuple(
        Parameter(name, use.value, FLAT if flat else tuple(text_of(dim) for dim in use.dims))
        for name, use in zip(names, _distinct(op), strict=True)
    )
    return Launch(kernel, given, (op.name,), (shape,))


DOCS: Mapping[str, str] = {
    "assembly": "Copy the parts to where they belong; they do not overlap.",
    "span": "Write the numbers of a range.",
    "gather": "Copy the rows of a table that the places name.",
    "pick": "Take from each row of a table the elements that the same row of places names.",
    "scan": "Walk along each row, keeping what came before.",
}


def _shape(op: Op) -> tuple[str, ...]:
    return ("1", str(op.shape[0])) if op.kind == "span" else tuple(str(n) for n in op.shape)


def _distinct(op: Op) -> list[Use]:
    """The tensors it reads, each once; an assembly reads them by address."""
    if op.kind != "assembly":
        return list(op.uses)
    return list({use.value: use for use in op.uses}.values())


def _names(op: Op) -> list[str]:
    values = [use.value for use in _distinct(op)]
    taken = {"out", "P", "i_p", "row", "col", "tile", "place", "found", "i_f", "i_t"}
    return [f"{value}_" if value in taken else value for value in values]


def _assembly(_program: Program, op: Op, names: Sequence[str], columns: int, write: Writer) -> None:
    detail = detail_of(op, Assembly)
    by_value = {use.value: name for use, name in zip(_distinct(op), names, strict=True)}
    uses = iter(op.uses)
    for piece in detail.pieces:
        use = next(uses) if piece.fill is None else None
        strides = use.strides if use else (0,) * len(piece.shape)
        runs = _runs(piece.shape, strides, piece.strides, columns)
        start = use.offset if use else 0
        source = by_value[use.value] if use else number(piece.fill or 0.0)
        write.line()
        _copy(write, runs, piece, start, source, op, filled=use is None)


def _runs(shape: Shape, read: Shape, written: Shape, columns: int) -> list[Run]:
    """Loops of a copy, outermost first; rows and columns are the last two."""
    joined: list[Run] = []
    for size, source, target in zip(shape, read, written, strict=True):
        if size == 1:
            continue
        if joined and joined[-1][1:] == (source * size, target * size):
            joined[-1] = (joined[-1][0] * size, source, target)
        else:
            joined.append((size, source, target))
    joined = joined or [(1, 1, 1)]
    if len(joined) == 1:
        size, source, target = joined[0]
        width = min(size, columns)
        rows = math.ceil(size / width)
        return [(rows, source * width, target * width), (width, source, target)]
    return _rows_last(joined)


def _rows_last(runs: list[Run]) -> list[Run]:
    """The longest of the outer loops becomes the rows: it fills the partitions best."""
    outer, columns = runs[:-1], runs[-1]
    rows = max(range(len(outer)), key=lambda at: (min(outer[at][0], 128), at))
    return [*(run for at, run in enumerate(outer) if at != rows), outer[rows], columns]


def _copy(
    write: Writer, runs: list[Run], piece: Piece, start: int, source: str, op: Op, *, filled: bool
) -> None:  # fmt: skip
    *outer, rows, columns = runs
    width = min(columns[0], 4096)
    chunks = math.ceil(columns[0] / width)
    write.line(f"i_f = nl.arange({width})[None, :]")
    if filled:
        write.line(f"fill = nl.full((P, {width}), {source}, dtype={DTYPES[op.dtype]})")
    heads = [f"for o{at} in nl.affine_range({run[0]}):" for at, run in enumerate(outer)]
    heads += [f"for r in nl.affine_range({math.ceil(rows[0] / 128)}):"]
    heads += [f"for c in nl.affine_range({chunks}):"] if chunks > 1 else []
    with nest(write, *heads):
        write.line("row = r * P + i_p")
        write.line(f"col = c * {width} + i_f" if chunks > 1 else "col = i_f")
        names = [*(f"o{at}" for at in range(len(outer))), "row", "col"]
        masks = [f"(row < {rows[0]})"] if rows[0] % 128 else []
        masks += [f"(col < {columns[0]})"] if columns[0] % width else []
        size = math.prod(piece.shape)
        if math.prod(run[0] for run in runs) > size:  # one run of memory, cut into rows
            masks.append(f"(row * {columns[0]} + col < {size})")
        mask = [f"mask={' & '.join(masks)}"] if masks else []
        target = f"out[{_address(names, [run[2] for run in runs], piece.offset)}]"
        if filled:
            write.call("nl.store(", [target, "fill", *mask])
        else:
            given = f"{source}[{_address(names, [run[1] for run in runs], start)}]"
            write.call("nisa.dma_copy(", [f"dst={target}", f"src={given}", *mask])


def _address(names: Sequence[str], strides: Sequence[int], offset: int) -> str:
    terms = [str(offset)] if offset else []
    for name, step in zip(names, strides, strict=True):
        if step or name in {"row", "col"}:
            terms.append(times(name, step))
    return " + ".join(terms)


def _span(_program: Program, op: Op, _names: Sequence[str], columns: int, write: Writer) -> None:
    detail = detail_of(op, Span)
    width = min(op.shape[0], columns)
    chunks = math.ceil(op.shape[0] / width)
    kind = DTYPES[op.dtype]
    write.line(f"i_f = nl.arange({width})[None, :]")
    with nest(write, f"for c in nl.affine_range({chunks}):" if chunks > 1 else ""):
        write.line(f"col = c * {width} + i_f" if chunks > 1 else "col = i_f")
        if detail.step == 0:
            write.line(f"line = nl.full((1, {width}), {number(detail.start)}, dtype={kind})")
        else:
            write.line("place = nisa.iota(col, dtype=nl.int32)")
            moved = f"nl.multiply(place, {number(detail.step)})"
            write.call("line = nl.add(", [moved, number(detail.start), f"dtype={kind}"])
        tail = [f"mask=col < {op.shape[0]}"] if op.shape[0] % width else []
        write.call("nl.store(", ["out[nl.arange(1)[:, None], col]", "line", *tail])


def _gather(program: Program, op: Op, names: Sequence[str], columns: int, write: Writer) -> None:
    table, places = names
    if table == places:
        raise NotImplementedError(f"{op.name}: a table that names its own rows")
    rows, cols = op.shape
    width = min(cols, columns)
    chunks = math.ceil(cols / width)
    kind = DTYPES[program.dtype_of(op.uses[1].value)]
    write.line(f"rows, cols = {rows}, {cols}")
    write.line(f"i_f = nl.arange({width})[None, :]")
    write.line("i_f1 = nl.arange(1)[None, :]")
    with nest(write, f"for r in nl.affine_range({math.ceil(rows / 128)}):"):
        write.line("row = r * P + i_p")
        write.line(f"place = nl.zeros((P, 1), dtype={kind})")
        write.line(f"place[i_p, i_f1] = nl.load({places}[row + i_f1], mask=row < rows)")
        with nest(write, f"for c in nl.affine_range({chunks}):" if chunks > 1 else ""):
            write.line(f"col = c * {width} + i_f" if chunks > 1 else "col = i_f")
            mask = "(row < rows) & (col < cols)" if cols % width else "row < rows"
            write.call("found = nl.load(", [f"{table}[place[i_p, 0], col]", f"mask={mask}"])
            write.call("nl.store(", ["out[row, col]", "found", f"mask={mask}"])


class _Loaded(NamedTuple):
    """A tile of all partitions that a load fills."""

    name: str
    width: int
    along: str
    dtype: str
    cast: bool = False
    """Whether memory has another type."""

    def load(self, write: Writer, source: str, mask: str) -> None:
        """Load it; zeros stand where the mask leaves something out."""
        if not mask:
            write.call(
                f"{self.name} = nl.load(", [source, *([f"dtype={self.dtype}"] if self.cast else [])]
            )
            return
        write.line(f"{self.name} = nl.zeros((P, {self.width}), dtype={self.dtype})")
        write.call(f"{self.name}[i_p, {self.along}] = nl.load(", [source, f"mask={mask}"])


def _pick(program: Program, op: Op, names: Sequence[str], columns: int, write: Writer) -> None:
    table, places = names
    rows, cols = op.shape
    width = min(cols, columns)
    long = op.uses[0].shape[-1]
    write.line(f"rows, cols = {rows}, {cols}")
    write.line(f"i_f, i_t = nl.arange({width})[None, :], nl.arange({long})[None, :]")
    below = "row < rows" if rows % PARTITIONS else ""
    both = [each for each in (below, "col < cols" if cols % width else "") if each]
    tile = _Loaded("tile", long, "i_t", DTYPES[program.dtype_of(op.uses[0].value)])
    place = _Loaded("place", width, "i_f", "nl.uint32", cast=True)
    with write.block(f"for r in nl.affine_range({math.ceil(rows / PARTITIONS)}):"):
        write.line("row = r * P + i_p")
        tile.load(write, f"{table}[row, i_t]", below)
        with nest(
            write, f"for c in nl.affine_range({math.ceil(cols / width)}):" if cols > width else ""
        ):
            write.line(f"col = c * {width} + i_f" if cols > width else "col = i_f")
            mask = " & ".join(f"({each})" if len(both) > 1 else each for each in both)
            place.load(write, f"{places}[row, col]", mask)
            write.line("found = nl.gather_flattened(data=tile, indices=place)")
            write.call("nl.store(", ["out[row, col]", "found", *([f"mask={mask}"] if mask else [])])


RUNNING: Mapping[str, tuple[str, str, str, str]] = {
    "sum": ("nl.ones", "tile", "nl.multiply", "0.0"),
    "product": ("tile", "nl.zeros", "nl.multiply", "1.0"),
    "max": ("tile", "nl.zeros", "nl.maximum", "-math.inf"),
    "min": ("tile", "nl.zeros", "nl.minimum", "math.inf"),
}
"""Of each scan the two streams, the first operation, and what it starts from."""


def _scan(_program: Program, op: Op, names: Sequence[str], columns: int, write: Writer) -> None:
    detail = detail_of(op, Running)
    rows, cols = op.shape
    width = min(cols, columns)
    chunks = math.ceil(cols / width)
    first, second, op0, start = RUNNING[detail.op]
    other = f"{first if second == 'tile' else second}((P, {width}), dtype=nl.float32)"
    write.line(f"rows, cols = {rows}, {cols}")
    write.line(f"i_f = nl.arange({width})[None, :]")
    write.line("i_f1 = nl.arange(1)[None, :]")
    write.line(f"other = {other}")
    streams = ["other", "tile"] if second == "tile" else ["tile", "other"]
    with nest(write, f"for r in nl.affine_range({math.ceil(rows / 128)}):"):
        write.line("row = r * P + i_p")
        write.line(f"before = nl.full((P, 1), {start}, dtype=nl.float32)")
        with nest(write, f"for c in nl.sequential_range({chunks}):" if chunks > 1 else ""):
            write.line(f"col = c * {width} + i_f" if chunks > 1 else "col = i_f")
            mask = "(row < rows) & (col < cols)" if cols % width else "row < rows"
            write.line(f"tile = nl.zeros((P, {width}), dtype=nl.float32)")
            write.call("tile[i_p, i_f] = nl.load(", [f"{names[0]}[row, col]", f"mask={mask}"])
            write.call(
                "kept = nisa.tensor_tensor_scan(",
                [*streams, "initial=before", f"op0={op0}", "op1=nl.add"],
            )
            if chunks > 1:
                write.line(f"before[i_p, i_f1] = nl.copy(kept[i_p, {width - 1} + i_f1])")
            write.call("nl.store(", ["out[row, col]", "kept", f"mask={mask}"])


WRITERS: Mapping[str, Callable[[Program, Op, Sequence[str], int, Writer], None]] = {
    "assembly": _assembly, "span": _span, "gather": _gather, "pick": _pick, "scan": _scan,
}  # fmt: skip
