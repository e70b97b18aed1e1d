"""Recurrent layers stay one node each: unrolled, they are nodes for every step of every layer."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from nkiport.nki import target

CELLS: Mapping[Callable[..., Any], str] = {
    torch.lstm: "lstm", torch.gru: "gru", torch.rnn_tanh: "tanh", torch.rnn_relu: "relu",
}  # fmt: skip
"""PyTorch's functions, and what one step of each is."""
MOST_WEIGHTS = 30_000
"""Weights of a step in one partition: fp32 in most of the smallest target's SBUF."""


class Whole(TorchFunctionMode):
    """While it is on, PyTorch's recurrent layers are calls of ``nkiport.recurrent``."""

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Replace the call where the operator means the same."""
        del types
        if func in CELLS and not kwargs and (asked := _asked(*args)):
            made = _operator()(CELLS[func], *asked)
            return tuple(made)
        return func(*args, **(kwargs or {}))


def _asked(*given: Any) -> tuple[Any, ...] | None:
    """The operator's arguments; None for packed batches, projected states and random dropout."""
    x, state, params, biased = given[:4]
    if not isinstance(biased, bool):
        return None
    layers, dropout, train, both, batched = given[4:]
    states = [state] if isinstance(state, torch.Tensor) else [*state]
    sizes = (4 if biased else 2) * (2 if both else 1)
    if (train and dropout) or len(params) != sizes * layers or not _held(x, params[1], batched):
        return None
    return x, states, [*params], biased, layers, both, batched


def _held(x: torch.Tensor, weights: torch.Tensor, batched: bool) -> bool:
    """Whether a kernel can hold a step of ``x``'s batch under weights (gates * H, H).

    The sums of all gates and the batch stand in one PSUM bank.
    """
    rows, hidden = weights.shape
    batch = 1 if x.dim() < 3 else x.shape[0 if batched else 1]  # noqa: PLR2004 - (steps, batch, H)
    smallest = target("trn1")
    blocks = math.ceil(hidden / smallest.partitions)
    return rows // hidden * batch <= smallest.psum_fmax and blocks * rows <= MOST_WEIGHTS


@cache
def _operator() -> Any:
    """An operator of which tracing asks the shapes only."""

    @torch.library.custom_op("nkiport::recurrent", mutates_args=())
    def recurrent(
        cell: str, x: torch.Tensor, states: list[torch.Tensor], params: list[torch.Tensor],
        biased: bool, layers: int, both: bool, batched: bool,
    ) -> list[torch.Tensor]:  # fmt: skip
        function = next(each for each, name in CELLS.items() if name == cell)
        state = states if cell == "lstm" else states[0]
        settings = (biased, layers, 0.0, False, both, batched)
        return list(function(x, state, params, *settings))

    @recurrent.register_fake
    def _(
        cell: str, x: torch.Tensor, states: list[torch.Tensor], params: list[torch.Tensor],
        biased: bool, layers: int, both: bool, batched: bool,
    ) -> list[torch.Tensor]:  # fmt: skip
        del cell, params, biased, layers, batched
        width = states[0].shape[-1] * (2 if both else 1)
        shown = x.new_empty((*x.shape[:2], width))
        return [shown, *(torch.empty_like(each) for each in states)]

    return recurrent
