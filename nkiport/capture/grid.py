"""A bare Triton kernel as a function: launched on a grid, with the roles that the job gives."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import torch

from nkiport.contracts.capture import ArgumentRole, Reference
from nkiport.contracts.errors import CaptureFailed


def launcher(module: ModuleType, reference: Reference) -> Callable[..., Any]:
    """A function of the input roles, in order, that returns the output roles."""
    if not reference.grid or not reference.roles:
        raise CaptureFailed(
            f"'{reference.symbol}' is a bare Triton kernel; give 'grid' and the 'roles' of its "
            "arguments in the job's reference"
        )

    def launch(*inputs: Any) -> Any:
        names = [role.name for role in reference.roles if role.role == "input"]
        if len(names) != len(inputs):
            raise CaptureFailed(f"{len(inputs)} inputs for the roles {', '.join(names)}")
        known = dict(zip(names, inputs, strict=True))
        outputs = {role.name: _output(role) for role in reference.roles if role.role == "output"}
        scalars = {
            role.name: _valued(role.value, known)
            for role in reference.roles
            if role.role == "scalar"
        }
        grid = tuple(int(_valued(each, known | scalars)) for each in reference.grid)
        getattr(module, reference.symbol)[grid](**known, **outputs, **scalars)
        return tuple(outputs.values())

    return launch


def _output(role: ArgumentRole) -> Any:
    """Memory for an output, which no kernel may leave as it is unnoticed."""
    if role.like is None:
        raise CaptureFailed(f"the output '{role.name}' needs 'like', its shape and dtype")
    made = torch.empty(role.like.shape, dtype=getattr(torch, role.like.dtype))
    return made.fill_(float("nan")) if made.is_floating_point() else made.zero_()


def _valued(value: Any, known: Mapping[str, Any]) -> Any:
    """A number as it is, or an expression over the inputs; this runs inside the sandbox."""
    if not isinstance(value, str):
        return value
    try:
        return eval(value, {"__builtins__": {}}, dict(known))  # noqa: S307 - the user's own, walled in
    except Exception as error:
        raise CaptureFailed(
            f"'{value}' is no expression over {', '.join(known)}: {error}"
        ) from error
