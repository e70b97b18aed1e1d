"""The names a kernel sees: objects built from the tables, handed out by our own import."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from nkiport.nki import OPS, Op, Problem
from nkiport.simulator.errors import RuleBroken, broken

if TYPE_CHECKING:
    from nkiport.simulator.machine import Machine

IGNORED = frozenset(
    {
        "name", "lazy_initialization", "mode", "directives", "precise_schedule", "perf_mode",
        "max_free_vec_size", "buffer", "dge_mode", "oob_mode",
    }
)  # fmt: skip
"""Keyword arguments that public kernels pass, without a meaning here."""


def unknown_name(owner: str, name: str, known: Any) -> Problem:
    """Return the problem of a name that a namespace does not have, with near matches."""
    near = get_close_matches(name, known, 3, 0.6)
    return Problem(
        "err_unknown_name",
        f"{owner} has no '{name}'",
        f"near matches: {', '.join(near)}" if near else "see docs/ops.md for what it has",
        f"use {owner}.{near[0]}" if near else "",
    )


class UnknownName(RuleBroken, AttributeError):
    """A module does not have the name; ``hasattr`` and ``getattr`` take it as Python's own."""


class Namespace:
    """A module as a kernel sees it."""

    def __init__(self, label: str, names: Mapping[str, Any]) -> None:
        self.__dict__.update(names)
        self._label = label

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        known = [each for each in self.__dict__ if not each.startswith("_")]
        raise UnknownName(unknown_name(self.__dict__.get("_label", "module"), name, known))

    def extended(self, names: Mapping[str, Any]) -> "Namespace":
        """The same module with more names."""
        if not names:
            return self
        own = {name: each for name, each in vars(self).items() if name != "_label"}
        return Namespace(self._label, {**own, **names})

    def __repr__(self) -> str:
        return f"<module '{self._label}'>"


class BoundOp:
    """An operation as a kernel calls it, or names it in an ``op=`` argument."""

    __slots__ = ("_known", "_machine", "_parameters", "_required", "op")

    def __init__(self, op: Op, machine: "Machine") -> None:
        self.op = op
        self._machine = machine
        self._parameters = op.parameters
        self._required = op.required - {"accumulator"}
        self._known = frozenset(op.parameters) - {"accumulator"}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Bind the arguments as the vendor's signature does, and run the instruction."""
        if len(args) > len(self._parameters):
            raise self._wrong(f"{len(args)} positional arguments", f"{len(self._parameters)}")
        given = dict(zip(self._parameters, args, strict=False))
        dtype = mask = None
        for name, value in kwargs.items():
            if name == "mask":
                mask = value
                continue
            if name == "dtype":
                dtype = value
            if name in self._known:
                if name in given:
                    raise self._wrong(f"'{name}' twice", "each argument once")
                given[name] = value
            elif name != "dtype" and name not in IGNORED:
                raise self._wrong(f"an argument '{name}'", ", ".join(sorted(self._known)))
        if not self._required <= given.keys():
            missing = ", ".join(sorted(self._required - given.keys()))
            raise self._wrong(f"a call without {missing}", "all of them")
        given = {n: token(v) for n, v in given.items() if v is not None}
        return self._machine.execute(self.op, given, dtype=dtype, mask=mask)

    def _wrong(self, asked: str, allowed: str) -> RuleBroken:
        return broken("err_wrong_arguments", f"{self.op.key}: {asked}", allowed)

    def __repr__(self) -> str:
        return self.op.key


def token(value: Any) -> Any:
    """Return the name of an operation passed as an argument; lists as tuples; else the value."""
    if isinstance(value, BoundOp):
        return value.op.name
    if callable(value) and (isinstance(value, np.ufunc) or value in NUMPY):
        return value.__name__
    return tuple(value) if isinstance(value, list) else value


NUMPY = (np.max, np.min, np.sum, np.prod, np.amax, np.amin, np.copy, np.all)
"""NumPy's functions that name an operation without being ufuncs."""


def bound_operations(namespace: str, machine: "Machine") -> dict[str, Any]:
    """Return the operations of ``nl`` or ``nisa``, as a kernel calls them."""
    return {op.name: BoundOp(op, machine) for op in OPS.values() if op.namespace == namespace}


def importer(modules: Mapping[str, Any]) -> Callable[..., Any]:
    """Return an ``__import__`` that hands out these modules and nothing else."""

    def import_(
        name: str,
        _globals: Any = None,
        _locals: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        if level or name not in modules:
            raise broken(
                "err_import", f"import of '{'.' * level}{name}'",
                f"one of {', '.join(sorted(modules))}", "remove the import",
            )  # fmt: skip
        return modules[name] if fromlist else modules[name.split(".", maxsplit=1)[0]]

    return import_
