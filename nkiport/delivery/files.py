"""The files of one accepted kernel, as they will lie in the repository."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from jinja2 import Environment, PackageLoader, StrictUndefined

from nkiport.contracts.evidence import Evidence

FOLDER = "nki_kernels"
"""Where delivered kernels lie, at the root of the repository."""


TORCH: Mapping[str, str] = {"float8_e4m3": "float8_e4m3fn"}
"""PyTorch's names of dtypes, where they differ."""


@dataclass(frozen=True)
class Delivered:
    """An accepted kernel: its candidate, and its evidence in both renderings."""

    evidence: Evidence
    candidate: bytes
    signed: bytes
    """The DSSE envelope."""
    markdown: str

    @property
    def package(self) -> str:
        """The kernel's folder: a Python name made from its id."""
        name = re.sub(r"\W", "_", self.evidence.kernel_id)
        return name if name.isidentifier() else f"k_{name}"


def files_of(kernel: Delivered) -> Mapping[str, bytes]:
    """Path in the repository to bytes: kernel, wrapper, test, evidence."""
    texts = {
        "__init__.py": f'"""{_one_line(kernel.evidence.headline)}"""\n',
        "wrapper.py": _render("wrapper.py.j2", kernel),
        f"test_{kernel.package}.py": _render("test.py.j2", kernel),
        "evidence.md": kernel.markdown,
    }
    here = PurePosixPath(FOLDER, kernel.package)
    return {
        f"{FOLDER}/__init__.py": b'"""Kernels for AWS Trainium, each with its evidence."""\n',
        str(here / "kernel.py"): kernel.candidate,
        str(here / "evidence.json"): kernel.signed,
        **{str(here / name): text.encode() for name, text in texts.items()},
    }


def _render(template: str, kernel: Delivered) -> str:
    oracle = kernel.evidence.oracle
    weights = [spec.name for spec in oracle.inputs if spec.role == "weight"]
    return (
        _templates()
        .get_template(template)
        .render(
            title=_one_line(kernel.evidence.headline),
            original=_one_line(f"{oracle.reference.file}:{oracle.reference.symbol}"),
            weights=weights,
            results=[TORCH.get(spec.dtype, spec.dtype) for spec in oracle.outputs],
            shapes=[spec.shape for spec in oracle.inputs if spec.role == "input"],
            inputs=[spec.name for spec in oracle.inputs if spec.role == "input"],
        )
    )


def _one_line(text: str) -> str:
    """Text from a stranger's tree, fit for a docstring."""
    return re.sub(r'[^\x20-\x7e]|["\\]', "_", text)


@cache
def _templates() -> Environment:
    loader = PackageLoader("nkiport.delivery", "templates")
    # Python files, not HTML; every value is a checked name or went through _one_line.
    return Environment(  # noqa: S701
        loader=loader,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
