"""What a function's asset holds: the first-party files its handler imports, and their data."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import grimp
from aws_cdk import IgnoreMode
from aws_cdk import aws_lambda as lambda_

from stacks import ROOT

PACKAGES: Final = ("lambdas", "nkiport")


def code(step: str, data: Sequence[str] = ()) -> lambda_.Code:
    """Those files straight from the tree, and ``data`` folders: nothing is built or copied."""
    return lambda_.Code.from_asset(
        str(ROOT), exclude=only([*files(step), *data]), ignore_mode=IgnoreMode.GIT
    )


def files(step: str) -> list[str]:
    """The step's folder, every module it imports by whatever way, and the data beside them."""
    modules = [_file(name) for name in imported(f"lambdas.{step}.handler")]
    found = {path for module in modules for path in (module, *_data(module.parent))}
    return sorted({f"lambdas/{step}", *(path.relative_to(ROOT).as_posix() for path in found)})


def imported(module: str) -> set[str]:
    """Every first-party module that importing this one may run, packages above it included."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None, exclude_type_checking_imports=True)
    waiting, seen = {module}, set[str]()
    while waiting := {name for name in waiting if name in graph.modules} - seen:
        seen |= waiting
        waiting = {near for name in waiting for near in (*_above(name), *_direct(graph, name))}
    return seen


def only(paths: Iterable[str]) -> list[str]:
    """Gitignore lines that leave nothing but these files and folders.

    >>> only(["a/b.py"])
    ['/*', '!/a', '/a/*', '!/a/b.py', '**/__pycache__', '*.pyc']
    """
    lines = ["/*"]
    for path in paths:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            parent = "/".join(parts[:depth])
            lines += [f"!/{parent}", f"/{parent}/*"] if f"!/{parent}" not in lines else []
        lines.append(f"!/{path}")
    return [*lines, "**/__pycache__", "*.pyc"]


def _direct(graph: grimp.ImportGraph, module: str) -> set[str]:
    return graph.find_modules_directly_imported_by(module)


def _above(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[:depth]) for depth in range(1, len(parts)))


def _file(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _data(folder: Path) -> Iterator[Path]:
    """Prompts, templates and tables: what lies in a package without being a module."""
    for child in folder.iterdir():
        package = child.is_dir() and (child / "__init__.py").exists()
        if not package and child.name != "__pycache__" and child.suffix not in {".py", ".pyc"}:
            yield child
