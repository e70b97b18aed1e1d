"""The first pass: core ATen becomes the few kinds of ``KINDS``, by the table of rules."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nkiport.contracts.graph import Arg, DTypeArg, Graph, Ref
from nkiport.lowering.builder import (
    Builder,
    Operand,
    drop,
    spec_dims,
)
from nkiport.lowering.ir import Input, Op, Program, Use, whole
from nkiport.lowering.rules import Result, rule_table
from nkiport.lowering.rules.made import span
from nkiport.lowering.rules.numbers import number_of


def normal_form(graph: Graph) -> Program:
    """Rewrite every node; a graph output that is not stored in order gets a copy."""
    builder = Builder()
    values: dict[tuple[str, int | None], Operand] = {}
    inputs = []
    for spec in graph.inputs:
        name = builder.fresh(spec.name)
        item = Input(name, spec_dims(name, spec.shape), builder.kind(spec.dtype))
        inputs.append(item)
        builder.know(name, item.dims, item.dtype)
        values[spec.name, None] = whole(name, item.dims)
    table = rule_table()
    for node in graph.nodes:
        named = node.model_copy(update={"name": readable(node.name)})
        builder.node, builder.source = named.name, node.source
        args = [_argument(values, arg) for arg in node.args]
        kwargs = {key: _argument(values, arg) for key, arg in node.kwargs.items()}
        result: Result | None = None if kwargs else number_of(node, args)
        if result is None:
            args = _tensors(builder, node.args, args)
            result = table[node.op](builder, named, *args, **kwargs)
        _remember(values, node.name, result)
    given = {item.name for item in inputs}
    outputs = tuple(_output(builder, values, ref, given) for ref in graph.outputs)
    return Program(tuple(inputs), tuple(live(builder.ops, outputs)), outputs)


def readable(name: str) -> str:
    """A node's name without what only PyTorch's dispatcher needs.

    >>> readable("_native_batch_norm_legit_no_training_3"), readable("addmm")
    ('batch_norm_3', 'addmm')
    """
    return INTERNAL.sub("", name) or name


INTERNAL = re.compile(r"^_+|native_|_legit|_no_training|_with_indices|_default$")


def _argument(values: Mapping[tuple[str, int | None], Operand], arg: Arg) -> Any:
    if isinstance(arg, Ref):
        if (arg.ref, arg.index) not in values:
            raise NotImplementedError(f"result {arg.index} of {arg.ref} is used; no rule gives it")
        return values[arg.ref, arg.index]
    if isinstance(arg, DTypeArg):
        return arg.dtype
    if isinstance(arg, tuple):
        return tuple(_argument(values, item) for item in arg)
    return arg


def _tensors(b: Builder, given: Sequence[Arg], args: Sequence[Any]) -> list[Any]:
    """The arguments; where no tensor is among them, numbers that stand for one become one."""
    found = any(isinstance(each, Use) or _lists(each) for each in args)
    return [
        each if found and not isinstance(each, tuple) else _tensor(b, arg, each)
        for arg, each in zip(given, args, strict=True)
    ]


def _lists(each: Any) -> bool:
    return isinstance(each, tuple) and any(isinstance(one, Use) for one in each)


def _tensor(b: Builder, arg: Arg, each: Any) -> Any:
    """A number that stands for a tensor as one; in a list of tensors too."""
    if isinstance(arg, tuple):
        return tuple(_tensor(b, one, made) for one, made in zip(arg, each, strict=True))
    if isinstance(arg, Ref) and isinstance(each, bool | int | float):
        return drop(span(b, 1, float(each), 0, "float32"), 0)
    return each


def _remember(values: dict[tuple[str, int | None], Operand], name: str, result: Result) -> None:
    if isinstance(result, tuple):
        values.update({(name, index): item for index, item in enumerate(result)})
        values[name, None] = result[0]
    else:
        values[name, None] = values[name, 0] = result


def _output(
    b: Builder, values: Mapping[tuple[str, int | None], Operand], ref: Ref, inputs: set[str]
) -> Use:
    b.node = f"{ref.ref}_output"
    value = _argument(values, ref)
    if not isinstance(value, Use):
        raise NotImplementedError(f"the output {ref.ref} is the constant {value}")
    if value.value in inputs:
        return b.elementwise("copy", value, dtype=b.dtypes[value.value], name=b.node)
    return b.dense(value)


def live(ops: Sequence[Op], outputs: Sequence[Use]) -> list[Op]:
    """The operations that an output needs, in order."""
    needed = {use.value for use in outputs}
    kept = []
    for op in reversed(ops):
        if op.name in needed:
            kept.append(op)
            needed |= {use.value for use in op.uses}
    return kept[::-1]
