"""What every emitted kernel shares: parameters, index expressions, loads, calls and stores."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from nkiport.lowering.builder import RESERVED, regroup
from nkiport.lowering.fusion import Access, Group
from nkiport.lowering.ir import Op, Program, Use, covers, fresh, size_of, text_of
from nkiport.lowering.select import DTYPES
from nkiport.lowering.step import Step
from nkiport.lowering.writer import Writer

PARTITIONS = 128
"""Of SBUF and PSUM, on every target: what ``nl.tile_size.pmax`` is."""
RENAMING = frozenset({"copy", "cast"})


def axes(strides: Sequence[int | None]) -> tuple[int, ...]:
    """The order of the space's intervals in the tensor: its memory order.

    >>> axes((8, 1)), axes((1, 4)), axes((0, 1))
    ((0, 1), (1, 0), (0, 1))
    """
    steps = [step for step in strides if step]
    if steps == sorted(steps, reverse=True):
        return tuple(range(len(strides)))
    present = sorted((i for i, s in enumerate(strides) if s), key=lambda i: -(strides[i] or 0))
    return (*(i for i, s in enumerate(strides) if not s), *present)


def plain(program: Program, access: Access, sizes: Sequence[int]) -> bool:
    """Whether the space reaches each element of the value once: a reshape gives the axes of it."""
    pieces = [(size, step) for size, step in zip(sizes, access.strides, strict=True) if step]
    total = math.prod(size_of(dim) for dim in program.dims_of(access.value))
    return covers(pieces, access.offset, total)


FLAT = ("-1",)
"""The shape of an operand that is read by address."""


def shape_texts(program: Program, access: Access, sizes: Sequence[int]) -> tuple[str, ...]:
    """The shape a kernel reads a value in, as the host function writes it."""
    if not plain(program, access, sizes):
        return FLAT
    order = axes(access.strides)
    wanted = tuple(sizes[i] if access.strides[i] else 1 for i in order)
    return tuple(text_of(dim) for dim in regroup(program.dims_of(access.value), wanted))


def times(name: str, step: int) -> str:
    """The product as a reader would write it.

    >>> times("row", 1), times("row", 32)
    ('row', 'row * 32')
    """
    return name if step == 1 else f"{name} * {step}"


@dataclass(frozen=True)
class Parameter:
    """A tensor a kernel takes, in the shape of its space."""

    name: str
    value: str
    shape: tuple[str, ...]


@dataclass(frozen=True)
class Launch:
    """What the host function needs to know of a kernel."""

    kernel: str
    parameters: tuple[Parameter, ...]
    results: tuple[str, ...]
    shapes: tuple[tuple[str, ...], ...]
    """The shapes of the results as the kernel leaves them, as the host would write them."""


@dataclass(frozen=True)
class Scattered:
    """How a tile is reached whose columns do not lie beside each other in memory."""

    spot: str
    """The index of its elements, with as many dimensions as their places in memory have."""
    row: str
    """Their rows."""


@dataclass
class Body:
    """A kernel that is being written."""

    program: Program
    group: Group
    writer: Writer
    width: str
    """The columns of a tile, as source."""
    row_end: str = "rows"
    """Where rows end, as source; empty where every tile is full."""
    column_mask: str = "col < cols"
    taken: set[str] = field(default_factory=set)
    names: dict[Access, str] = field(default_factory=dict)
    tiles: dict[Use | str, str] = field(default_factory=dict)
    loaded: dict[Access, str] = field(default_factory=dict)
    scattered: Scattered | None = None
    ready: frozenset[Access] = frozenset()
    """Operands that are loaded before the loops."""
    done: set[str] = field(default_factory=set)
    """Operations that are computed there."""

    def __post_init__(self) -> None:
        self.taken |= RESERVED | {op.name for op in self.group.ops}
        for access in self.group.reads.values():
            if access not in self.names:
                self.names[access] = self.fresh(access.value)
        for use, access in self.group.reads.items():
            if access not in self.loaded:
                self.loaded[access] = self.fresh(f"{self.names[access]}_tile")
            self.tiles[use] = self.loaded[access]
        for op in self.group.ops:
            self.tiles[op.name] = self.alias(op) or op.name

    def fresh(self, name: str) -> str:
        """A name this kernel does not use yet."""
        return fresh(name, self.taken)

    def alias(self, op: Op) -> str | None:
        """The tile an operation that changes nothing on chip only renames."""
        if op.kind not in RENAMING or not isinstance(op.args[0], Use):
            return None
        used = any(use.value == op.name for each in self.group.ops for use in each.uses)
        floating = op.dtype in {"float32", "bfloat16", "float16"}
        silent = op.kind == "copy" or op.dtype == "float32" or (floating and not used)
        source = op.args[0]
        same = self.wide(source) == self.wide_result(op.name)
        return (
            self.tiles[source.value if self.inside(source) else source] if silent and same else None
        )

    def inside(self, use: Use) -> bool:
        """Whether the group computes the operand itself."""
        return use.value in self.group.results

    def wide(self, use: Use) -> bool:
        """Whether an operand has a value for every column."""
        if self.inside(use):
            return self.wide_result(use.value)
        return self.group.reads[use].strides[-1] != 0

    def wide_result(self, name: str) -> bool:
        """Whether a result has a value for every column."""
        return self.group.results[name].strides[-1] != 0

    def parameters(self) -> tuple[Parameter, ...]:
        """The kernel's parameters, in the order their tiles are first needed."""
        sizes = self.group.sizes
        return tuple(
            Parameter(name, access.value, shape_texts(self.program, access, sizes))
            for access, name in self.names.items()
        )

    def index(self, access: Access, columns: str, *, natural: bool = False) -> str:
        """The index of an operand's tile, in the tensor's own order."""
        if not plain(self.program, access, self.group.sizes):
            return self.address(access, columns)
        last = len(self.group.sizes) - 1
        texts = []
        for axis, step in enumerate(access.strides):
            ones = {last: "i_f1", last - 1: "i_p1"}
            names = {last: columns, last - 1: self.row_of(access)}
            absent = step == 0 or (access in self.ready and axis < last - 1)
            texts.append(ones.get(axis, "0") if absent else names.get(axis, f"o{axis}"))
        order = range(len(texts)) if natural else axes(access.strides)
        return ", ".join(texts[axis] for axis in order)

    def address(self, access: Access, columns: str) -> str:
        """Where an operand's elements lie in memory, by the strides of the space."""
        last = len(self.group.sizes) - 1
        terms = [f"{access.offset}"] if access.offset else []
        for axis, step in enumerate(access.strides):
            if axis < last - 1:
                terms += [times(f"o{axis}", step)] if step else []
            elif step == 0:
                terms.append("i_f1" if axis == last else "i_p1")
            else:
                name = columns if axis == last else self.row_of(access)
                terms.append(times(name if name.isidentifier() else f"({name})", step or 1))
        return " + ".join(terms)

    def spot_of(self, access: Access) -> str:
        """The index of a tile whose columns are scattered; empty where they are not."""
        return self.scattered.spot if self.scattered and access.strides[-1] != 0 else ""

    def row_of(self, access: Access) -> str:
        """The rows of a tile, in the dimensions of its index."""
        return self.scattered.row if self.scattered and access.strides[-1] != 0 else "row"

    def mask(self, access: Access, *, tail: bool) -> str:
        """The condition under which an element exists; empty if all do."""
        walked = self.row_end and access.strides[-2] != 0
        rows = f"{self.row_of(access)} < {self.row_end}" if walked else ""
        columns = self.column_mask if tail and access.strides[-1] != 0 else ""
        return f"({rows}) & ({columns})" if rows and columns else rows or columns

    def load(self, access: Access, *, columns: str, tail: bool, width: str = "") -> None:
        """Load an operand's tile; a row that all rows share is spread over the partitions.

        ``width`` is how many columns it has, if not as many as the tiles of this kernel.
        """
        name, target = self.names[access], self.loaded[access]
        shared = access.strides[-2] == 0
        mask = self.mask(access, tail=tail)
        given = [f"mask={mask}"] if mask else []
        if self.program.dtype_of(access.value) != "float32":
            given.append("dtype=nl.float32")
        first = f"{target}_row" if shared else target
        if spot := self.spot_of(access):
            self.writer.line(f"{target} = nl.ndarray((P, {self.width}), dtype=nl.float32)")
            first = f"{target}[{spot}]"
        source = f"{name}[{self.index(access, columns)}]"
        self.writer.call(f"{first} = nl.load(", [source, *given])
        if shared:
            wide = (width or self.width) if access.strides[-1] != 0 else "1"
            self.writer.call(f"{target} = nl.broadcast_to(", [first, f"shape=(P, {wide})"])

    def step(self, step: Step) -> None:
        """Write one call."""
        text = [*step.args, *(f"{key}={value}" for key, value in step.kwargs)]
        op = step.op
        for line in step.before:
            self.writer.line(line)
        if op.kind == "mean":
            total = f"{step.function}({', '.join(text)})" if step.function else text[0]
            self.writer.call(f"{step.tile} = nl.multiply(", [total, self.share(op)])
        else:
            self.writer.call(f"{step.tile} = {step.function}(", text)

    def share(self, op: Op) -> str:
        """What a sum is multiplied by to be a mean."""
        if self.group.sizes[-1] <= op.correction:
            return "math.nan"
        less = f"{op.correction:g}"
        return f"1.0 / (cols - {less})" if op.correction else "1.0 / cols"

    def store(self, name: str, *, columns: str, tail: bool) -> None:
        """Write a result's tile to its tensor."""
        access = self.group.results[name]
        at = f"{self.out(name)}[{self.index(access, columns, natural=True)}]"
        spot = self.spot_of(access)
        tile = f"{self.tiles[name]}[{spot}]" if spot else self.tiles[name]
        mask = self.mask(access, tail=tail)
        self.writer.call("nl.store(", [at, tile, *([f"mask={mask}"] if mask else [])])

    def out(self, name: str) -> str:
        """The name of a result's tensor."""
        return "out" if len(self.group.stored) == 1 else f"{name}_out"

    def allocate(self, sizes: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Allocate the results in HBM; gives their shapes as the kernel names them."""
        shapes = []
        for name in self.group.stored:
            strides = self.group.results[name].strides
            shape = tuple("1" if step == 0 else s for s, step in zip(sizes, strides, strict=True))
            kind = DTYPES[self.program.dtype_of(name)]
            args = [f"({', '.join(shape)})", f"dtype={kind}", "buffer=nl.shared_hbm"]
            self.writer.call(f"{self.out(name)} = nl.ndarray(", args)
            shapes.append(shape)
        return tuple(shapes)

    def names_of_sizes(self) -> tuple[str, ...]:
        """Names for the sizes of the space."""
        outer = len(self.group.sizes) - 2
        return (*(f"outer{axis}" for axis in range(outer)), "rows", "cols")

    def read_sizes(self, names: Sequence[str]) -> None:
        """Read the sizes off the parameters, so that the kernel serves other sizes too."""
        left = list(range(len(names)))
        shaped = {
            access: name for access, name in self.names.items()
            if plain(self.program, access, self.group.sizes)
        }  # fmt: skip
        for access, name in shaped.items():
            order = axes(access.strides)
            if list(order) == left and all(step != 0 for step in access.strides):
                self.writer.line(f"{', '.join(names)} = {name}.shape")
                return
        for access, name in shaped.items():
            for place, axis in enumerate(axes(access.strides)):
                if axis in left and access.strides[axis] != 0:
                    self.writer.line(f"{names[axis]} = {name}.shape[{place}]")
                    left.remove(axis)
        for axis in left:
            self.writer.line(f"{names[axis]} = {self.group.sizes[axis]}")

    def result_texts(self) -> tuple[tuple[str, ...], ...]:
        """The shapes of the results as the host writes them."""
        return tuple(
            shape_texts(self.program, self.group.results[name], self.group.sizes)
            for name in self.group.stored
        )
