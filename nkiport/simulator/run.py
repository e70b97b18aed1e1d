"""Run a candidate on inputs."""

import ast
import builtins
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, partial
from inspect import signature
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from nkiport.contracts.base import TargetName
from nkiport.contracts.judgement import Finding
from nkiport.nki import Problem, target
from nkiport.nki.dtypes import Array
from nkiport.simulator.check import check
from nkiport.simulator.errors import RuleBroken, broken
from nkiport.simulator.host import HostTensor
from nkiport.simulator.language import modules
from nkiport.simulator.launch import Kernel
from nkiport.simulator.machine import Machine
from nkiport.simulator.namespace import importer
from nkiport.simulator.options import Options
from nkiport.simulator.ranges import Range
from nkiport.simulator.siblings import file_imports
from nkiport.simulator.subset import entry, with_ticks
from nkiport.simulator.trace import Trace

SAFE_BUILTINS = (
    "abs", "all", "any", "bool", "dict", "divmod", "enumerate", "float", "int", "isinstance",
    "len", "list", "map", "max", "min", "print", "range", "repr", "reversed", "round", "set",
    "sorted", "slice", "str", "sum", "tuple", "type", "zip", "True", "False", "None", "Exception",
    "ValueError", "TypeError", "AssertionError", "NotImplementedError", "Ellipsis", "id", "hash",
)  # fmt: skip


@dataclass(frozen=True)
class Launch:
    """Which kernel of a file is run, and how."""

    kernel: str = ""
    """``forward`` or the only kernel, unless named."""
    grid: tuple[int, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments that are no tensors."""


@dataclass(frozen=True)
class Simulation:
    """What a run gave. ``findings`` with an error mean that ``outputs`` are not to be trusted."""

    outputs: tuple[Array, ...]
    findings: tuple[Finding, ...]
    trace: Trace
    inputs_read: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing worse than a warning was found."""
        return all(each.severity != "error" for each in self.findings)


class Candidate:
    """A candidate's text, checked and compiled once for any number of runs."""

    def __init__(
        self, source: str, *, target: TargetName = "trn1", own: bool = False,
        file_name: str = Options.file_name,
    ) -> None:  # fmt: skip
        self.findings = _found(source, target, own=own)
        self._target = _target(target)
        self._source = source
        self._file_name = file_name

    @property
    def sound(self) -> bool:
        """Whether the static check found no error; a file that is not sound is not run."""
        return all(each.severity != "error" for each in self.findings)

    def run(
        self,
        inputs: Mapping[str, Array],
        *,
        options: Options = Options(),  # noqa: B008 - frozen
        launch: Launch = Launch(),
    ) -> Simulation:
        """Run ``forward``, or the only kernel, on the inputs in order, on a machine of its own."""
        machine = Machine(self._target, options)
        readers: dict[str, list[Any]] = {name: [] for name in inputs}
        outputs: tuple[Array, ...] = ()
        if self.sound:
            with np.errstate(all="ignore"):
                outputs = self._run(inputs, machine, readers, launch)
        return Simulation(
            outputs,
            (*self.findings, *machine.findings.values()),
            machine.trace(),
            tuple(n for n, storages in readers.items() if any(s.was_read for s in storages)),
        )

    @cached_property
    def _entry(self) -> str:
        return entry(self._tree) or ""

    @cached_property
    def _tree(self) -> ast.Module:
        return ast.parse(self._source)

    @cached_property
    def _code(self) -> CodeType:
        code: CodeType = compile(with_ticks(self._tree), self._file_name, "exec", dont_inherit=True)
        return code

    def _run(
        self, inputs: Mapping[str, Array], machine: Machine, readers: dict[str, list[Any]],
        launch: Launch,
    ) -> tuple[Array, ...]:  # fmt: skip
        name = launch.kernel or self._entry
        names: dict[str, Any] = {"__name__": "candidate", "__builtins__": _builtins(machine)}
        if machine.options.own:
            names["__file__"] = self._file_name
        try:
            exec(self._code, names)  # noqa: S102 - the sandbox's child runs this
            given = [HostTensor(values, n, readers[n]) for n, values in inputs.items()]
            function = _named(name, names)
            if launch.kernel and not isinstance(function, Kernel):
                function = Kernel(machine, function)
            called = function[launch.grid] if launch.grid else function
            args, named = _bound(function, given, launch.arguments)
            return _arrays(called(*args, **named))
        except RuleBroken as error:
            machine.report(error.problem, "error", _line(error, machine))
        except Exception as error:  # noqa: BLE001 - whatever a candidate raises is its finding
            machine.report(_problem(error, names), "error", _line(error, machine))
        return ()


def simulate(
    source: str,
    inputs: Mapping[str, Array],
    *,
    target: TargetName = "trn1",
    options: Options = Options(),  # noqa: B008 - frozen
    launch: Launch = Launch(),
) -> Simulation:
    """Run a candidate's ``forward``, or its only kernel, on the inputs in order.

    ``launch`` names another kernel, its grid and the arguments that are no tensors. Broken rules
    and the candidate's own errors are findings with their line; nothing is raised for them. A
    file that fails the static check is not run.
    """
    read = Candidate(source, target=target, own=options.own, file_name=options.file_name)
    return read.run(inputs, options=options, launch=launch)


_target = target


def _found(source: str, target: TargetName, *, own: bool) -> tuple[Finding, ...]:
    """What the static check says. In a file of one's own a name is missed where it is used."""
    found = check(source, target=target, own=own)
    return tuple(f for f in found if not own or f.code != "err_unknown_name")


def _named(name: str, names: Mapping[str, Any]) -> Any:
    """The function of that name."""
    if name not in names:
        own = [each for each, it in names.items() if isinstance(it, Kernel | FunctionType)]
        raise broken("err_no_entry", f"a function '{name}'", f"those of the file: {', '.join(own)}")
    return names[name]


def _bound(
    function: Any, tensors: list[HostTensor], others: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Tensors in order, around the arguments that are given by name wherever they stand."""
    named, waiting = dict(others), list(tensors)
    args: list[Any] = []
    asked = signature(getattr(function, "function", function))
    for parameter in asked.parameters:
        if not waiting:
            break
        args.append(named.pop(parameter) if parameter in named else waiting.pop(0))
    whole = [*args, *waiting]
    try:
        asked.bind(*whole, **named)
    except TypeError as error:
        raise broken(
            "err_inputs", f"{len(tensors)} tensors: {error}", f"one for each of {asked}",
            "give one input for each parameter, in their order",
        ) from None  # fmt: skip
    return whole, named


def _builtins(machine: Machine) -> dict[str, Any]:
    own = machine.options.own
    known = dir(builtins) if own else SAFE_BUILTINS
    names = {name: getattr(builtins, name) for name in known if hasattr(builtins, name)}
    language = modules(machine)
    imports = file_imports(language, machine.options.file_name)
    given = {
        **names,
        "__import__": imports if own else importer(language),
        "__build_class__": builtins.__build_class__,
        "__tick__": machine.tick,
        "range": partial(Range, partial(machine.loop, "range")),
        "print": lambda *_args, **_kwargs: None,
    }
    imports.builtins = given
    return given


def _arrays(result: Any) -> tuple[Array, ...]:
    values = result if isinstance(result, tuple | list) else (result,)
    for position, each in enumerate(values):
        if not isinstance(each, HostTensor):
            raise broken(
                "err_output", f"output {position} is {type(each).__name__}",
                "tensors that kernels return", "return what the kernel launch returns",
            )  # fmt: skip
    return tuple(np.array(each._values) for each in values)  # noqa: SLF001


def _line(error: BaseException, machine: Machine) -> int | None:
    """The innermost line of the candidate that an error passed through."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f.lineno for f in frames if f.filename == machine.options.file_name]
    return lines[-1] if lines else None


def _problem(error: Exception, names: Mapping[str, Any]) -> Problem:
    kind = type(error).__name__
    if isinstance(error, NameError):
        known = [*names, *SAFE_BUILTINS]
        near = get_close_matches(getattr(error, "name", "") or "", known, 3, 0.6)
        allowed = f"near matches: {', '.join(near)}" if near else "names defined in this file"
        return Problem("err_python", f"{kind}: {error}", allowed)
    if isinstance(error, RecursionError | MemoryError):
        return Problem("err_limit_reached", f"{kind}: {error}", "", "make the kernel smaller")
    return Problem("err_python", f"{kind}: {error}", "", "correct the line")
