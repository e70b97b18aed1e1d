"""A reference as something to call: its file loaded, its weights exchanged, its answer flat."""

import copy
import importlib.util
from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import torch

from nkiport.capture.grid import launcher
from nkiport.contracts.capture import Reference
from nkiport.contracts.errors import CaptureFailed
from nkiport.sandbox.buffers import Array, dtype_of

SEED = 0
"""For the weights a reference makes itself; the judge replaces every one."""


class Runnable:
    """One reference. Every call is on a fresh module, in the mode that the reference says."""

    def __init__(self, reference: Reference, tree: Path) -> None:
        self.reference = reference
        self.tree = tree
        self._file = tree / reference.file

    @cached_property
    def module(self) -> ModuleType:
        """The reference's file, imported."""
        spec = importlib.util.spec_from_file_location("reference", self._file)
        if spec is None or spec.loader is None:
            raise CaptureFailed(f"'{self.reference.file}' is no Python file")
        loaded = importlib.util.module_from_spec(spec)
        _guarded("importing the file", spec.loader.exec_module, loaded)
        return loaded

    @cached_property
    def target(self) -> Any:
        """The module's object, or the function. A call is on a copy of the module."""
        if self.reference.kind == "triton_grid":
            return launcher(self.module, self.reference)
        return self._made() if self.reference.kind == "module" else self._symbol()

    @cached_property
    def arguments(self) -> list[Any]:
        """The declared inputs: the job's specification, else the file's ``get_inputs()``."""
        given = self._declared
        if not given:
            raise CaptureFailed(
                f"'{self.reference.file}' says nothing of its inputs; add 'def get_inputs():' "
                "that returns a list of tensors, or give 'inputs' in the job's reference"
            )
        return given

    @cached_property
    def _declared(self) -> list[Any]:
        torch.manual_seed(SEED)
        if self.reference.inputs:
            return [_example(spec) for spec in self.reference.inputs]
        return list(self._given("get_inputs"))

    def __call__(
        self, inputs: Sequence[Any], weights: dict[str, Any], *, wide: bool = False
    ) -> list[Any]:
        """Call it on tensors in the place of its own; other arguments stay as declared."""
        target = self.target
        if self.reference.kind == "module":
            fresh = self._fresh()
            target = _with_weights(fresh.double() if wide else fresh, weights)
        left = iter(inputs)
        declared = self._declared or inputs
        arguments = [next(left) if isinstance(a, torch.Tensor) else a for a in declared]
        with torch.no_grad():
            return flat(_guarded("running the reference", target, *arguments))

    def _symbol(self) -> Any:
        found: Any = self.module
        for name in self.reference.symbol.split("."):
            found = getattr(found, name, None)
        if found is None:
            raise CaptureFailed(
                f"'{self.reference.file}' has no '{self.reference.symbol}'; name a class or "
                "a function of the file as the job's reference"
            )
        return found

    def _made(self) -> torch.nn.Module:
        found = self._symbol()
        torch.manual_seed(SEED)
        init = self.reference.init or self._given("get_init_inputs")
        keywords = init if isinstance(init, dict) else {}
        made = _guarded("making the module", found, *([] if keywords else init), **keywords)
        if not isinstance(made, torch.nn.Module):
            raise CaptureFailed(f"'{self.reference.symbol}' makes no torch.nn.Module")
        return _with_buffers(made.train(self.reference.training))

    def _fresh(self) -> torch.nn.Module:
        """A copy of the module; one made anew, if it holds what cannot be copied.

        A function that holds on to modules would be the copy's too, and call the original's.
        """
        if any(map(_holds, self.target.modules())):
            return self._made()
        try:
            copied: torch.nn.Module = copy.deepcopy(self.target)
        except Exception:  # noqa: BLE001 - a module may hold anything: locks, generators, files
            return self._made()
        return copied

    def _given(self, name: str) -> Any:
        function = getattr(self.module, name, None)
        return [] if function is None else _guarded(f"calling {name}()", function)


def flat(said: Any) -> list[Any]:
    """The tensors of an answer, in order; those of tuples in it in the place of their tuple.

    Raises ``CaptureFailed`` for anything else.
    """
    outputs = _leaves(said)
    if not outputs or not all(isinstance(each, torch.Tensor) for each in outputs):
        kinds = ", ".join(type(each).__name__ for each in outputs) or "nothing"
        raise CaptureFailed(f"the reference returns {kinds}; return a tensor or a tuple of them")
    return outputs


def _leaves(said: Any) -> list[Any]:
    if not isinstance(said, tuple | list):
        return [said]
    return [leaf for each in said for leaf in _leaves(each)]


def to_torch(array: Array, *, wide: bool) -> Any:
    """A tensor of the array's values, as float64 where ``wide`` and it is floating."""
    kind = getattr(torch, array.dtype.name)
    if array.dtype.kind in "iub":
        return torch.from_numpy(np.ascontiguousarray(array))
    values = torch.from_numpy(array.astype(np.float64))
    return values if wide else values.to(kind)


def from_torch(tensor: Any) -> Array:
    """The array of a tensor's values in its own dtype."""
    name = str(tensor.dtype).removeprefix("torch.")
    own = getattr(ml_dtypes, name, None)
    if own is None:
        return np.asarray(tensor.detach().cpu().numpy())
    return np.asarray(tensor.detach().cpu().double().numpy()).astype(dtype_of(name))


def _guarded(what: str, function: Any, *arguments: Any, **keywords: Any) -> Any:
    try:
        return function(*arguments, **keywords)
    except CaptureFailed:
        raise
    except Exception as error:
        said = str(error).strip().splitlines() or [""]
        raise CaptureFailed(f"{what} raised {type(error).__name__}: {said[0][:400]}") from error


def _with_buffers(model: torch.nn.Module) -> torch.nn.Module:
    """Make buffers of tensors kept as plain attributes, and keep every buffer in the state.

    Such a tensor is as much a weight as a buffer is: the kernel is given it.
    """
    for part in model.modules():
        plain = [n for n, value in vars(part).items() if isinstance(value, torch.Tensor)]
        for name in plain:
            tensor = vars(part).pop(name)
            part.register_buffer(name, tensor.detach())
        part._non_persistent_buffers_set.clear()  # noqa: SLF001 - PyTorch offers no other way
    return model


def lifted(model: torch.nn.Module) -> dict[str, str]:
    """The name of every parameter and buffer in the module, and its name as an input.

    Dots become underscores; a name that is taken gets one more at its end.
    """
    state = (*model.named_parameters(remove_duplicate=False),
             *model.named_buffers(remove_duplicate=False))  # fmt: skip
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name, _ in state:
        found[name] = free(name.replace(".", "_"), taken)
        taken.add(found[name])
    return found


def free(name: str, taken: Collection[str]) -> str:
    """The name, with as many underscores behind it as make it new."""
    while name in taken:
        name += "_"
    return name


def _holds(value: Any) -> bool:
    """Whether there is a function in a module's attributes that keeps values of its own."""
    if isinstance(value, FunctionType):
        return bool(value.__closure__ or value.__defaults__)
    if isinstance(value, torch.nn.Module):
        return any(map(_holds, vars(value).values()))
    if isinstance(value, dict):
        return any(_holds(e) for e in value.values() if not isinstance(e, torch.nn.Module))
    return isinstance(value, list | tuple) and any(
        _holds(e) for e in value if not isinstance(e, torch.nn.Module)
    )


def _with_weights(model: Any, weights: dict[str, Any]) -> Any:
    state = dict((*model.named_parameters(remove_duplicate=False),
                  *model.named_buffers(remove_duplicate=False)))  # fmt: skip
    for name, as_input in lifted(model).items():
        if as_input in weights:
            state[name].data = weights[as_input]  # state dicts keep the dtype
    return model


def _example(spec: Any) -> Any:
    kind = getattr(torch, spec.dtype, None)
    if kind is None:
        raise CaptureFailed(f"input '{spec.name}' has dtype '{spec.dtype}', which torch lacks")
    draw = spec.draw
    low = 0.0 if draw.low is None else draw.low
    high = 1.0 if draw.high is None else draw.high
    if draw.kind == "boolean":
        return torch.rand(spec.shape) < 0.5  # noqa: PLR2004
    if draw.kind == "integers":
        return torch.randint(int(low), int(high) + 1, spec.shape).to(kind)
    if draw.kind == "uniform":
        return (low + (high - low) * torch.rand(spec.shape)).to(kind)
    return (draw.mean + draw.std * torch.randn(spec.shape)).to(kind)
