"""A Triton kernel read symbolically: indices as sums of program and lane, values as graph nodes."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import torch

from nkiport.contracts.errors import CaptureFailed
from nkiport.contracts.graph import Graph, Node, Ref
from nkiport.contracts.tensors import InputSpec

Shape = tuple[int, ...]
UNARY = ("exp", "log", "sqrt", "rsqrt", "abs", "sigmoid", "sin", "cos", "tanh", "erf", "floor")
REDUCED = {"sum": "aten.sum.dim_IntList", "max": "aten.amax.default", "min": "aten.amin.default"}
BINARY: Mapping[type, str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
ON_NUMBERS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b, ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b,
}  # fmt: skip


@dataclass(frozen=True)
class Launch:
    """A recorded launch: the kernel's Python function, the grid, and what it was given."""

    function: Any
    grid: tuple[int, ...]
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Index:
    """``program * program_id(0) + lane * arange(0, lanes) + start``."""

    program: int = 0
    lane: int = 0
    start: int = 0
    lanes: int = 0


@dataclass(frozen=True)
class Pointer:
    """Elements of a tensor, counted from its first."""

    tensor: Any
    at: Index = Index()


@dataclass(frozen=True)
class Mask:
    """``at < bound``."""

    at: Index
    bound: int


@dataclass(frozen=True)
class Tile:
    """A value over all programs at once."""

    ref: str
    shape: Shape


@dataclass
class Reading:
    """The state of reading one kernel. ``CaptureFailed`` names the construct that stops it."""

    launch: Launch
    names: Mapping[int, str]
    known: dict[str, Any] = field(init=False)
    nodes: list[Node] = field(default_factory=list)
    stored: dict[int, Tile] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = self.launch.arguments.items()
        self.known = {n: Pointer(v) if isinstance(v, torch.Tensor) else v for n, v in given}

    def statement(self, node: ast.stmt) -> None:
        """Take one statement of the kernel's body."""
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            self.known[node.targets[0].id] = self._value(node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            old = self.known[node.target.id]
            self.known[node.target.id] = self._binary(node.op, old, self._value(node.value), node)
        elif isinstance(node, ast.Expr):
            if isinstance(node.value, ast.Call):
                self._value(node.value)
        else:
            raise _stopped(node)

    def graph(self, inputs: tuple[InputSpec, ...], outputs: list[Any]) -> Graph:
        """The graph of what was stored into the returned tensors."""
        refs = []
        for each in outputs:
            tile = self.stored.get(each.data_ptr())
            if tile is None:
                raise CaptureFailed("a returned tensor is not one that the kernel stores whole")
            refs.append(Ref(ref=self._shaped(tile, tuple(each.shape)).ref))
        return Graph(inputs=inputs, nodes=tuple(self.nodes), outputs=tuple(refs))

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and node.id in self.known:
            return self.known[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self._value(node.operand)
            return self._node("aten.neg.default", (value,)) if isinstance(value, Tile) else -value
        if isinstance(node, ast.BinOp):
            return self._binary(node.op, self._value(node.left), self._value(node.right), node)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt):
            return self._mask(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        raise _stopped(node)

    def _mask(self, node: ast.Compare) -> Mask:
        at, bound = self._value(node.left), self._value(node.comparators[0])
        if not isinstance(at, Index) or not isinstance(bound, int):
            raise _stopped(node)
        return Mask(at, bound)

    def _binary(self, op: ast.operator, one: Any, other: Any, node: ast.AST) -> Any:
        kinds = (type(one), type(other))
        if Tile in kinds:
            return self._arithmetic(op, one, other, node)
        if Pointer in kinds:
            pointer, index = (one, other) if kinds[0] is Pointer else (other, one)
            if isinstance(op, ast.Add):
                return Pointer(pointer.tensor, _add(pointer.at, index, node))
        elif Index in kinds:
            if isinstance(op, ast.Add):
                return _add(one, other, node)
            if isinstance(op, ast.Mult) and int in kinds:
                index, factor = (one, other) if kinds[0] is Index else (other, one)
                return Index(
                    index.program * factor, index.lane * factor, index.start * factor, index.lanes
                )
        elif type(op) in ON_NUMBERS:
            return ON_NUMBERS[type(op)](one, other)
        raise _stopped(node)

    def _arithmetic(self, op: ast.operator, one: Any, other: Any, node: ast.AST) -> Tile:
        name = BINARY.get(type(op))
        if name is None or not all(isinstance(each, Tile | int | float) for each in (one, other)):
            raise _stopped(node)
        if isinstance(one, Tile):
            return self._node(f"aten.{name}.Tensor", (one, other))
        if name == "sub":
            return self._node("aten.rsub.Scalar", (other, one))
        if name == "div":
            turned = self._node("aten.reciprocal.default", (other,))
            return self._node("aten.mul.Tensor", (turned, one))
        return self._node(f"aten.{name}.Tensor", (other, one))

    def _call(self, node: ast.Call) -> Any:  # noqa: PLR0911 - one return for each kind of call
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        given = [self._value(each) for each in node.args] if name != "to" else []
        named = {each.arg or "": each.value for each in node.keywords}
        if name == "program_id" and given == [0] and len(self.launch.grid) == 1:
            return Index(program=1)
        if name == "arange":
            return Index(lane=1, start=given[0], lanes=given[1] - given[0])
        if name == "load":
            return self._load(given[0], self._maybe(named.get("mask")), node)
        if name == "store":
            return self._store(given[0], given[1], node)
        if name in UNARY and isinstance(given[0], Tile):
            return self._node(f"aten.{name}.default", (given[0],))
        if name in REDUCED and isinstance(given[0], Tile) and len(given[0].shape) == 2:  # noqa: PLR2004
            return self._node(REDUCED[name], (given[0], (1,), True))
        if name in {"maximum", "minimum"} and any(isinstance(each, Tile) for each in given):
            return self._clamped(name, given, node)
        if name == "to" and isinstance(node.func, ast.Attribute):
            return self._value(node.func.value)  # checked by running: rounding would show
        raise _stopped(node)

    def _clamped(self, name: str, given: list[Any], node: ast.AST) -> Tile:
        if all(isinstance(each, Tile) for each in given):
            return self._node(f"aten.{name}.default", tuple(given))
        one, other = given if isinstance(given[0], Tile) else given[::-1]
        if not isinstance(other, int | float):
            raise _stopped(node)
        bounds = (other, None) if name == "maximum" else (None, other)
        return self._node("aten.clamp.default", (one, *bounds))

    def _maybe(self, node: ast.expr | None) -> Any:
        return None if node is None else self._value(node)

    def _load(self, pointer: Any, mask: Any, node: ast.AST) -> Tile:
        if not isinstance(pointer, Pointer) or pointer.tensor.data_ptr() not in self.names:
            raise _stopped(node)
        whole = Tile(self.names[pointer.tensor.data_ptr()], tuple(pointer.tensor.shape))
        return self._shaped(whole, self._extent(pointer, mask, node))

    def _store(self, pointer: Any, value: Any, node: ast.Call) -> None:
        named = {each.arg: each.value for each in node.keywords}
        mask = self._maybe(named.get("mask"))
        if not isinstance(pointer, Pointer) or not isinstance(value, Tile):
            raise _stopped(node)
        if prod(self._extent(pointer, mask, node)) != prod(value.shape):
            raise _stopped(node)
        self.stored[pointer.tensor.data_ptr()] = value

    def _extent(self, pointer: Pointer, mask: Mask | None, node: ast.AST) -> Shape:
        """The shape in which all programs together touch the tensor, which must be all of it."""
        at, programs = pointer.at, self.launch.grid[0]
        size = pointer.tensor.numel()
        columns = mask.bound if mask else at.lanes
        if at.start == 0 and at.lane == 1:
            flat = at.program == at.lanes and (mask is None or mask.at == at)
            if flat and (mask.bound if mask else programs * at.lanes) == size:
                return tuple(pointer.tensor.shape)
            if at.program == columns and programs * columns == size:
                return (programs, columns)
            if at.program == 0 and columns == size:
                return (columns,)
        if at == Index(program=1) and programs == size:
            return (programs, 1)
        raise _stopped(node)

    def _shaped(self, tile: Tile, shape: Shape) -> Tile:
        return tile if tile.shape == shape else self._node("aten.view.default", (tile, shape))

    def _node(self, op: str, given: tuple[Any, ...]) -> Tile:
        tiles = [each for each in given if isinstance(each, Tile)]
        shape = _result(op, given, tiles)
        name = f"{op.split('.')[1]}_{len(self.nodes)}"
        arguments = tuple(Ref(ref=e.ref) if isinstance(e, Tile) else e for e in given)
        self.nodes.append(Node(name=name, op=op, args=arguments, shape=shape))
        return Tile(name, shape)


def _result(op: str, given: tuple[Any, ...], tiles: list[Tile]) -> Shape:
    if op == "aten.view.default":
        return tuple(given[1])
    if op in REDUCED.values():
        return (*tiles[0].shape[:-1], 1)
    return tuple(torch.broadcast_shapes(*(each.shape for each in tiles)))  # type: ignore[no-untyped-call]


def _add(one: Any, other: Any, node: ast.AST) -> Index:
    both = [Index(start=each) if isinstance(each, int) else each for each in (one, other)]
    if not all(isinstance(each, Index) for each in both):
        raise _stopped(node)
    a, b = both
    return Index(a.program + b.program, a.lane + b.lane, a.start + b.start, max(a.lanes, b.lanes))


def _stopped(node: ast.AST) -> CaptureFailed:
    text = ast.unparse(node).splitlines()[0][:120]
    return CaptureFailed(
        f"line {getattr(node, 'lineno', 0)} of the Triton kernel, '{text}', has no place in a "
        "graph yet; give a PyTorch reference in the job"
    )
