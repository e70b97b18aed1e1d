"""Export what a reference computes: core-ATen nodes, weights lifted to inputs."""

import inspect
import re
from pathlib import Path
from typing import Any, cast

import torch
from torch._decomp import get_decompositions

from nkiport.capture.callables import Runnable, free, lifted
from nkiport.capture.draws import drawn
from nkiport.capture.recurrent import Whole
from nkiport.capture.work import flops_of
from nkiport.contracts.base import DType
from nkiport.contracts.capture import Reference
from nkiport.contracts.errors import CaptureFailed
from nkiport.contracts.graph import DTypeArg, Graph, Node, Ref
from nkiport.contracts.tensors import InputSpec, TensorSpec

MOST_BYTES = 2 * 1024**3
"""Of inputs, weights and outputs together; more does not fit a worker's child."""
MOST_WRITTEN = 4096
"""Elements of a tensor that ``forward`` writes out; they stand in the graph as numbers."""
PLACE = re.compile(r'File "([^"]+)", line (\d+)')
NOT_VALUES = frozenset({"layout", "device", "pin_memory", "memory_format", "non_blocking"})


def captured(reference: Reference, tree: Path) -> dict[str, Any]:
    """A ``Capture`` as JSON, without the digest of the source.

    Raises ``CaptureFailed`` for what is random, too large, or not made of tensors.
    """
    run = Runnable(reference, tree)
    outputs = _repeated(run)
    specs = tuple(
        TensorSpec(name=f"output_{i}", shape=tuple(each.shape), dtype=dtype_name(each))
        for i, each in enumerate(outputs)
    )
    graph, because, weights = None, "", _weights(run)
    inputs = _inputs(run) + weights
    try:
        graph = _graph(run)
        inputs = graph.inputs
    except CaptureFailed as reason:
        because = str(reason)
    moved = _bytes(run, outputs, inputs)
    return {
        "reference": reference.model_dump(mode="json"),
        "inputs": [each.model_dump(mode="json") for each in inputs],
        "outputs": [each.model_dump(mode="json") for each in specs],
        "graph": graph.model_dump(mode="json") if graph else None,
        "no_graph_because": because,
        "float64_golden": _runs_wide(run),
        "flops": flops_of(graph) if graph else 0.0,
        "bytes_moved": moved,
    }


def dtype_name(tensor: Any) -> DType:
    """The contract's name of a tensor's dtype."""
    return cast("DType", str(tensor.dtype).removeprefix("torch."))  # pydantic checks it


def _repeated(run: Runnable) -> list[Any]:
    """Its outputs, after making sure that the same inputs give the same twice."""
    tensors = [each for each in run.arguments if isinstance(each, torch.Tensor)]
    torch.manual_seed(1)
    first = run([each.clone() for each in tensors], {})
    torch.manual_seed(2)
    again = run([each.clone() for each in tensors], {})
    same = len(first) == len(again) and all(
        a.shape == b.shape and torch.equal(a.nan_to_num(), b.nan_to_num())
        for a, b in zip(first, again, strict=True)
    )
    if not same:
        raise CaptureFailed(
            "the reference is random: the same inputs gave two answers; pass the random values "
            "as inputs, or switch dropout off"
        )
    if any(each.is_complex() or each.is_sparse for each in first):
        raise CaptureFailed("the reference returns complex or sparse tensors; return dense reals")
    return first


def _runs_wide(run: Runnable) -> bool:
    """Whether the reference also runs in float64; Triton's interpreter keeps its own dtypes."""
    if run.reference.kind != "module":
        return False
    wide = Runnable(run.reference, run.tree)
    tensors = [each for each in wide.arguments if isinstance(each, torch.Tensor)]
    try:
        said = wide([t.double() if t.is_floating_point() else t for t in tensors], {}, wide=True)
    except CaptureFailed:
        return False
    return all(each.dtype == torch.float64 for each in said if each.is_floating_point())


def _inputs(run: Runnable) -> tuple[InputSpec, ...]:
    if run.reference.inputs:
        return run.reference.inputs
    tensors = [each for each in run.arguments if isinstance(each, torch.Tensor)]
    names = _parameters(run, len(tensors))
    return tuple(_spec(n, each, "input") for n, each in zip(names, tensors, strict=True))


def _parameters(run: Runnable, count: int) -> list[str]:
    """The names that the reference gives its tensors, where each argument is one."""
    function = run.target.forward if run.reference.kind == "module" else run.target
    names = list(inspect.signature(function).parameters)[:count]
    plain = len(names) == count == len(run.arguments)
    taken = _lifted(run).values()
    return [free(each, taken) for each in names] if plain else [
        f"input_{i}" for i in range(count)
    ]  # fmt: skip


def _weights(run: Runnable) -> tuple[InputSpec, ...]:
    names = _lifted(run)
    return tuple(
        _spec(names[name], tensor, "weight") for name, tensor in _named(run) if _weighs(tensor)
    )


def _weighs(tensor: Any) -> bool:
    """A single whole number is a count or a size, such as batch norm's count of batches."""
    return bool(tensor.ndim or tensor.is_floating_point())


def _spec(name: str, tensor: Any, role: Any) -> InputSpec:
    shape = tuple(tensor.shape)
    if 0 in shape:
        raise CaptureFailed(f"input '{name}' is empty: its shape is {list(shape)}")
    return InputSpec(
        name=name, shape=shape, dtype=dtype_name(tensor), role=role, draw=drawn(tensor, role)
    )


def _bytes(run: Runnable, outputs: list[Any], inputs: tuple[InputSpec, ...]) -> float:
    tensors = [each for each in run.arguments if isinstance(each, torch.Tensor)]
    names = _lifted(run)
    size = {names[name]: tensor for name, tensor in _named(run)}
    weights = [size[each.name] for each in inputs if each.name in size]
    total = sum(each.numel() * each.element_size() for each in [*tensors, *outputs, *weights])
    if total > MOST_BYTES:
        raise CaptureFailed(
            f"the reference moves {total} bytes, at most {MOST_BYTES} are taken; "
            "declare smaller inputs"
        )
    return float(total)


def _named(run: Runnable) -> list[tuple[str, Any]]:
    if run.reference.kind != "module":
        return []
    return [*run.target.named_parameters(), *run.target.named_buffers()]


def _lifted(run: Runnable) -> dict[str, str]:
    return lifted(run.target) if run.reference.kind == "module" else {}


def _graph(run: Runnable) -> Graph:
    if run.reference.kind != "module":
        from nkiport.capture.triton_graph import graph_of_launch

        return graph_of_launch(run, _inputs(run))
    program = _exported(run)
    return _Reader(run, program).graph()


def _exported(run: Runnable) -> Any:
    try:
        with torch.no_grad(), Whole():
            program = torch.export.export(run.target, tuple(run.arguments))
            return program.run_decompositions(_decompositions())
    except Exception as error:
        said = (str(error).strip().splitlines() or [""])[0][:300]
        raise CaptureFailed(
            f"torch.export refuses the module ({type(error).__name__}: {said}); its control flow "
            "may depend on data"
        ) from error


def _decompositions() -> Any:
    """PyTorch's own, and one that it leaves to backends."""
    table: Any = torch.export.default_decompositions()
    table.update(get_decompositions([torch.ops.aten.grid_sampler_2d.default]))
    return table


class _Reader:
    """An exported program, read into the contract's graph."""

    def __init__(self, run: Runnable, program: Any) -> None:
        self._run = run
        self._program = program
        self._alias: dict[str, Ref] = {}
        self._nodes: list[Node] = []
        self._taken: set[str] = set()
        """The names of inputs and weights."""

    def graph(self) -> Graph:
        inputs = self._specs()
        for node in self._program.graph.nodes:
            if node.op == "call_function":
                self._add(node)
        outputs = self._outputs()
        nodes, used = _needed(self._nodes, outputs)
        kept = tuple(each for each in inputs if each.role == "input" or each.name in used)
        return Graph(inputs=kept, nodes=nodes, outputs=outputs)

    def _outputs(self) -> tuple[Ref, ...]:
        """What ``forward`` returns; new values of buffers and inputs stand there too."""
        last = next(n for n in self._program.graph.nodes if n.op == "output")
        specs = self._program.graph_signature.output_specs
        found = [
            self._argument(value)
            for value, spec in zip(last.args[0], specs, strict=True)
            if spec.kind.name == "USER_OUTPUT"
        ]
        if not all(isinstance(each, Ref) for each in found):
            raise CaptureFailed("the reference returns a value that is no tensor of its graph")
        return tuple(found)

    def _specs(self) -> tuple[InputSpec, ...]:
        """Inputs in call order, then the weights; constants become nodes."""
        signature, state = self._program.graph_signature, self._program.state_dict
        tensors = iter([a for a in self._run.arguments if isinstance(a, torch.Tensor)])
        names = lifted(self._run.target)
        inputs, weights = [], []
        for each in signature.input_specs:
            name = each.arg.name
            if each.kind.name == "USER_INPUT":
                if hasattr(each.arg, "value"):
                    continue  # a number, which torch.export wrote into the graph
                own = self._renamed(name, free(name, names.values()))
                inputs.append(_spec(own, next(tensors), "input"))
                continue
            tensor = state.get(each.target)
            constant = tensor is None
            tensor = self._program.constants.get(each.target) if constant else tensor
            if constant or not _weighs(tensor):
                self._constant(name, tensor)
            else:
                weights.append(_spec(self._renamed(name, names[each.target]), tensor, "weight"))
        return (*inputs, *weights)

    def _renamed(self, name: str, to: str) -> str:
        self._alias[name] = Ref(ref=to)
        self._taken.add(to)
        return to

    def _made(self, name: str) -> str:
        """The name of a node: its own, unless an input or a weight has it."""
        return self._renamed(name, free(name, self._taken)) if name in self._taken else name

    def _constant(self, name: str, tensor: Any) -> None:
        if tensor is None or not 0 < tensor.numel() <= MOST_WRITTEN:
            raise CaptureFailed(f"the module makes a constant tensor '{name}' while it runs")
        shape, values = tuple(tensor.shape), tuple(tensor.reshape(-1).tolist())
        alone = len(values) == 1
        op = "aten.full.default" if alone else "nkiport.tensor.default"
        args = (shape, *values) if alone else (values,)
        name = self._made(name)
        self._nodes.append(Node(name=name, op=op, args=args, shape=shape, dtype=dtype_name(tensor)))

    def _add(self, node: Any) -> None:
        if node.target.__name__ == "getitem":
            of = self._argument(node.args[0])
            self._alias[node.name] = Ref(ref=of.ref, index=node.args[1])
            return
        value = node.meta.get("val")
        if value is None:
            return
        first = _first(value)
        if not isinstance(first, torch.Tensor):
            raise CaptureFailed(f"'{node.target}' gives a number that depends on data")
        if node.target in INDICES:
            self._constant(node.name, node.target(*node.args, **node.kwargs))
            return
        overload, arguments = _operator(node)
        self._nodes.append(
            Node(
                name=self._made(node.name),
                op=overload,
                args=tuple(self._argument(each) for each in arguments),
                kwargs={
                    name: self._argument(each)
                    for name, each in node.kwargs.items()
                    if name not in NOT_VALUES
                },
                shape=tuple(first.shape),
                dtype=dtype_name(first),
                source=_source(node),
            )
        )

    def _argument(self, value: Any) -> Any:
        if isinstance(value, torch.fx.Node):
            return self._alias.get(value.name, Ref(ref=value.name))
        if isinstance(value, list | tuple):
            return tuple(self._argument(each) for each in value)
        if isinstance(value, torch.dtype):
            return DTypeArg(dtype=str(value).removeprefix("torch."))
        if value is None or isinstance(value, bool | int | float | str):
            return value
        return str(value)


def _operator(node: Any) -> tuple[str, tuple[Any, ...]]:
    """The overload and its arguments; a new layout that is its argument's own is a view.

    Graphs hold no layouts: another one is told where the argument lies in row-major order. An
    argument of which only the shape is asked is no operand: nobody has to give its values.
    """
    overload = str(node.target)
    if overload in SHAPE_ONLY:
        return SHAPE_ONLY[overload], (tuple(node.meta["val"].shape), *node.args[1:])
    if overload == "aten.copy.default" and _kind(node.args[0]) == _kind(node.args[1]):
        return "aten.expand.default", (node.args[1], tuple(node.meta["val"].shape))
    if overload != "aten.as_strided.default":
        return overload, node.args
    source, (_, shape, strides, *offset) = node.args[0].meta["val"], node.args
    own = [pair for pair in zip(source.shape, source.stride(), strict=True) if pair[0] > 1]
    wanted = [pair for pair in zip(shape, strides, strict=True) if pair[0] > 1]
    if own == wanted and not any(offset):
        return "aten.view.default", (node.args[0], shape)
    if not source.is_contiguous() or source.storage_offset():
        raise CaptureFailed(f"'{node.name}' reads memory by strides that its argument hides")
    return overload, node.args


INDICES = (torch.ops.aten.tril_indices.default, torch.ops.aten.triu_indices.default)
"""Tensors that follow from numbers alone."""
SHAPE_ONLY = {
    f"aten.{name}_like.default": f"aten.{made}.default"
    for name, made in {"zeros": "zeros", "ones": "ones", "full": "full", "empty": "zeros"}.items()
}


def _kind(node: Any) -> Any:
    return node.meta["val"].dtype


def _first(value: Any) -> Any:
    """The value, or the first of several that is there: shapes follow from the operator."""
    several = value if isinstance(value, tuple | list) else [value]
    return next((each for each in several if each is not None), None)


def _needed(nodes: list[Node], outputs: tuple[Ref, ...]) -> tuple[tuple[Node, ...], set[str]]:
    """The nodes that an output needs, in order, and the names that they and the outputs read."""
    read, kept = _read(outputs), []
    for node in reversed(nodes):
        if node.name in read:
            kept.append(node)
            read |= _read((*node.args, *node.kwargs.values()))
    return tuple(kept[::-1]), read


def _read(values: tuple[Any, ...]) -> set[str]:
    found: set[str] = set()
    waiting: list[Any] = [*values]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Ref):
            found.add(each.ref)
        elif isinstance(each, tuple):
            waiting += each
    return found


def _source(node: Any) -> str:
    """The user's line a node came from, for comments in what is generated."""
    places = PLACE.findall(node.meta.get("stack_trace") or "")
    return f"{Path(places[-1][0]).name}:{places[-1][1]}" if places else ""
