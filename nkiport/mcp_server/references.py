"""A reference as an agent gives it: a standard file, or a function with input specs beside it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from nkiport.contracts.errors import BadRequest

FLOATING = frozenset({"float16", "bfloat16", "float32", "float64"})
INTEGERS = frozenset({"int8", "int16", "int32", "int64"})


class Shaped(Protocol):
    """Shape and dtype of an input."""

    shape: tuple[int, ...]
    dtype: str


def reference_file(folder: Path, source: str, specs: Sequence[Shaped] | None, name: str) -> Path:
    """Write the reference; what it lacks of the standard format is added from the specs.

    Raises ``BadRequest`` if it has neither ``class Model`` nor ``def reference``, or no inputs.
    """
    parts = [source]
    if "class Model" not in source:
        if "def reference" not in source:
            raise BadRequest(
                "reference_source needs 'class Model(torch.nn.Module)' or 'def reference(*args)'"
            )
        parts.append(
            "import torch as _torch\n\n\nclass Model(_torch.nn.Module):\n"
            "    def forward(self, *args):\n        return reference(*args)"
        )
    if "def get_inputs" not in source:
        if not specs:
            raise BadRequest("give input_specs, or 'def get_inputs()' in reference_source")
        parts.append(_inputs(specs))
    file = folder / f"{name.replace('-', '_')}.py"
    file.write_text("\n\n\n".join(parts) + "\n")
    return file


def _inputs(specs: Sequence[Shaped]) -> str:
    made = ", ".join(_tensor(each) for each in specs)
    return f"def get_inputs():\n    import torch\n\n    return [{made}]"


def _tensor(spec: Shaped) -> str:
    shape = tuple(int(size) for size in spec.shape)
    if spec.dtype in FLOATING:
        return f"torch.randn({shape}).to(torch.{spec.dtype})"
    if spec.dtype in INTEGERS:
        return f"torch.randint(0, 100, {shape}, dtype=torch.{spec.dtype})"
    known = ", ".join(sorted(FLOATING | INTEGERS))
    raise BadRequest(f"dtype '{spec.dtype}' is not taken; there are {known}")
