"""Emits the host function: reshapes, launches, and the outputs in order."""

from collections.abc import Sequence

from nkiport.lowering.ir import Program, Use, text_of
from nkiport.lowering.kernel import Launch
from nkiport.lowering.writer import WIDTH, Writer


def emit_host(program: Program, launches: Sequence[Launch], writer: Writer) -> None:
    """Write ``forward``: every value is computed by a kernel it launches."""
    shapes = {item.name: tuple(text_of(dim) for dim in item.dims) for item in program.inputs}
    writer.call("def forward(", [item.name for item in program.inputs], "):")
    with writer.block():
        writer.line('"""Launch the kernels; the parameters are the inputs in call order."""')
        for launch in launches:
            args = [_reshaped(p.value, shapes[p.value], p.shape) for p in launch.parameters]
            writer.call(f"{_joined(launch.results)} = {launch.kernel}(", args)
            shapes.update(zip(launch.results, launch.shapes, strict=True))
        outputs = [_output(use, shapes) for use in program.outputs]
        if len(outputs) == 1:
            writer.call("return ", outputs, "")
        else:
            writer.call("return (", outputs)


def _joined(names: Sequence[str]) -> str:
    """Names on the left of an assignment, in brackets where they may need several lines."""
    text = ", ".join(names)
    return f"({text})" if len(text) > WIDTH // 2 else text


def _output(use: Use, shapes: dict[str, tuple[str, ...]]) -> str:
    return _reshaped(use.value, shapes[use.value], tuple(text_of(dim) for dim in use.dims))


def _reshaped(value: str, have: tuple[str, ...], want: tuple[str, ...]) -> str:
    """The value in the wanted shape; itself if it has it."""
    if have == want:
        return value
    comma = "," if len(want) == 1 else ""
    return f"{value}.reshape(({', '.join(want)}{comma}))"
