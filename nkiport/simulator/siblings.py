"""What a file of the caller's own imports: the language, files beside it, what is installed."""

import ast
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from nkiport.nki import Problem
from nkiport.simulator.errors import RuleBroken
from nkiport.simulator.namespace import Namespace
from nkiport.simulator.subset import with_ticks

LANGUAGE = frozenset({"neuronxcc", "nki"})


class Absent:
    """What is not there; it may be imported and passed on, and fails when it is called."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> "Absent":
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self._name}.{name}")

    def __repr__(self) -> str:
        return f"<absent '{self._name}'>"

    def __call__(self, *_args: Any, **_kwargs: Any) -> Any:
        """Say what is missing."""
        raise RuleBroken(
            Problem("err_import", f"a call of {self._name}", "what is installed", "install it")
        )


class Imports:
    """``__import__`` of a file of one's own, in the folder it lies in."""

    def __init__(self, language: Mapping[str, Any], folder: Path | None) -> None:
        self._language = language
        self._folder = folder
        self._files: dict[Path, ModuleType] = {}
        self.builtins: dict[str, Any] = {}

    def __call__(
        self, name: str, globals_: Any = None, locals_: Any = None, fromlist: Any = (),
        level: int = 0,
    ) -> Any:  # fmt: skip
        """Import as the statement of that module asks."""
        root = name.partition(".")[0]
        if root in LANGUAGE and not level:
            return self._of_language(name, fromlist or ())
        if level:
            here = Path((globals_ or {}).get("__file__", ".")).resolve()
            return self._beside(here.parents[level - 1], name, fromlist or ())
        folder = self._folder
        if folder and _path(folder / root):
            return self._beside(folder, name, fromlist or ())
        try:
            return __import__(name, globals_, locals_, fromlist, level)
        except ImportError:
            if folder and (folder / root).is_dir():
                return self._beside(folder, name, fromlist or ())
            return Absent(name if fromlist else root)

    def _of_language(self, name: str, wanted: Any) -> Any:
        """A module of the language, with an ``Absent`` for each name that it does not have."""
        if wanted:
            found = self._language.get(name)
            if not isinstance(found, Namespace):
                return Absent(name) if found is None else found
            missing = {n: Absent(f"{name}.{n}") for n in wanted if n not in vars(found)}
            return found.extended(missing)
        root, *parts = name.split(".")
        return _with_path(self._language[root], root, parts)

    def _beside(self, folder: Path, name: str, wanted: Any) -> Any:
        """A module of a file, or of a folder of files."""
        found: Any = self._module(folder)
        parts = name.split(".") if name else []
        first = None
        for part in parts:
            folder = folder / part
            inner = self._module(folder)
            setattr(found, part, inner)
            found, first = inner, first or inner
        for each in wanted:
            if each != "*" and not hasattr(found, each):
                inner = self._module(folder / each)
                setattr(found, each, inner)
        return found if wanted else first

    def _module(self, place: Path) -> Any:
        path = _path(place)
        if path is None:
            return ModuleType(place.name) if place.is_dir() else Absent(place.name)
        if path not in self._files:
            module = ModuleType(place.name)
            module.__dict__.update(__file__=str(path), __builtins__=self.builtins)
            self._files[path] = module
            tree = with_ticks(ast.parse(path.read_text()))
            exec(compile(tree, str(path), "exec", dont_inherit=True), vars(module))  # noqa: S102
        return self._files[path]


def _path(place: Path) -> Path | None:
    """The file of a module's name; of a package, its ``__init__``."""
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return path
    return None


def _with_path(found: Namespace, name: str, parts: list[str]) -> Namespace:
    """A module whose attributes lead along a path, to an ``Absent`` where it ends."""
    if not parts:
        return found
    full = f"{name}.{parts[0]}"
    inner = vars(found).get(parts[0])
    if not isinstance(inner, Namespace):
        return found.extended({parts[0]: Absent(full)} if inner is None else {})
    return found.extended({parts[0]: _with_path(inner, full, parts[1:])})


def file_imports(language: Mapping[str, Any], file_name: str) -> Imports:
    """Return the ``__import__`` of the file of that name; a text without one has no neighbours."""
    path = Path(file_name)
    return Imports(language, path.resolve().parent if path.is_file() else None)
