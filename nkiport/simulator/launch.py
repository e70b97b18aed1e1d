"""Kernels as the host function sees them: called, or called on a grid."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from nkiport.nki import Problem
from nkiport.simulator.errors import broken
from nkiport.simulator.host import HostTensor
from nkiport.simulator.machine import Machine
from nkiport.simulator.memory import Tile


class Kernel:
    """What ``@nki.jit`` makes of a function."""

    def __init__(
        self, machine: Machine, function: Callable[..., Any], grid: tuple[int, ...] = ()
    ) -> None:
        self._machine = machine
        self.function = function
        self._grid = grid
        self.line = function.__code__.co_firstlineno

    def __getitem__(self, grid: Any) -> "Kernel":
        sizes = tuple(grid) if isinstance(grid, tuple | list) else (grid,)
        if any(not isinstance(each, int | np.integer) or each < 1 for each in sizes):
            raise broken("err_grid", f"a grid of {grid!r}", "sizes of 1 and more")
        return Kernel(self._machine, self.function, tuple(int(each) for each in sizes))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Launch the kernel; inside another kernel, inline it."""
        machine = self._machine
        if machine.kernel_depth:
            if self._grid:
                raise broken(
                    "err_nested_kernel_with_spmd_grid", "a kernel launched on a grid in a kernel",
                    "a kernel may call another one without a grid", "remove the grid",
                )  # fmt: skip
            return self.function(*args, **kwargs)
        given = [self._argument(each) for each in args]
        named = {name: self._argument(each) for name, each in kwargs.items()}
        result = self._programs(given, named)
        return self._returned(_written([*given, *named.values()]) if result is None else result)

    def _programs(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        machine = self._machine
        machine.begin_launch(self._grid)
        machine.kernel_depth += 1
        result: Any = None
        try:
            for number, ids in enumerate(itertools.product(*map(range, self._grid))):
                machine.begin_program(number, ids)
                result = self.function(*args, **kwargs)
        finally:
            machine.kernel_depth -= 1
            machine.end_launch()
        return result

    def _argument(self, value: Any) -> Any:
        if not isinstance(value, HostTensor):
            return value
        return self._machine.parameter(
            value._values, value._source, value._readers, value._number  # noqa: SLF001
        )  # fmt: skip

    def _returned(self, result: Any) -> Any:
        if isinstance(result, tuple | list):
            return tuple(self._output(each, i) for i, each in enumerate(result))
        return self._output(result, 0)

    def _output(self, value: Any, position: int) -> HostTensor:
        if not isinstance(value, Tile) or not (value.buffer == "shared_hbm" or _mutable(value)):
            what = "nothing" if value is None else repr(value)
            self._machine.report(
                Problem(
                    "err_output",
                    f"kernel '{self.function.__name__}' returns {what}",
                    "tensors made with buffer=nl.shared_hbm",
                    "allocate the output with nl.ndarray(..., buffer=nl.shared_hbm), return it",
                ),
                "error",
                self.line,
            )
            raise broken("err_output", f"output {position} of the kernel is {what}")
        storage = value.storage
        if storage.undefined is not None:
            self._machine.report(
                Problem(
                    "err_tensor_output_not_written_to",
                    f"output {position}: {storage.undefined_left} of {storage.undefined.size} "
                    "elements were never stored",
                    "every element of an output is stored",
                    "check trip counts (math.ceil), masks and index expressions",
                ),
                "error",
                self.line,
            )
        return HostTensor(np.array(value.values()), number=storage.last_number)


def _mutable(tile: Tile) -> bool:
    """Whether it is a parameter that the kernel may write."""
    storage = tile.storage
    return storage.buffer == "private_hbm" and storage.written and not storage.read_only


def _written(values: list[Any]) -> Any:
    """The parameters that a kernel without a result has written, in order."""
    found = [each for each in values if isinstance(each, Tile) and _mutable(each)]
    return tuple(found) or None
