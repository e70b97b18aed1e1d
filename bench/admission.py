"""Whether a task can be fooled: cheap cheats that must fail before it is admitted.

The cheats are those that were seen to pass elsewhere: all zeros, the mean everywhere, an input
handed back, and a replay of the seed that made the weights and inputs. They are compared under the
judge's default tolerance, on values that none of them has seen.
"""

import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from nkiport.contracts.judgement import Tolerance

SECRET, PUBLIC = 8_191, 0
"""The seed of the values that are judged, and the one that everybody tries."""


@dataclass(frozen=True)
class Case:
    """A task at work: the inputs that are judged, what is expected, and a replay of seed 0."""

    inputs: list[torch.Tensor]
    expected: torch.Tensor
    replay_weights: torch.Tensor
    """Weights of seed 0 on the inputs that are judged."""
    replay_all: torch.Tensor
    """Weights and inputs of seed 0."""


def fooled_by(file: Path, tolerance: Tolerance | None = None) -> list[str]:
    """The names of the cheats that a task accepts; an admitted task has none."""
    case = _case(runpy.run_path(str(file)))
    allowed = tolerance or Tolerance()
    return [name for name, cheat in CHEATS.items() if _passes(cheat(case), case, allowed)]


def _case(task: Mapping[str, Any]) -> Case:
    model, inputs = _made(task, SECRET)
    replayed, replayed_inputs = _made(task, PUBLIC)
    with torch.no_grad():
        expected, weights, every = model(*inputs), replayed(*inputs), replayed(*replayed_inputs)
    return Case(inputs, expected, weights, every)


def _made(task: Mapping[str, Any], seed: int) -> tuple[torch.nn.Module, list[torch.Tensor]]:
    torch.manual_seed(seed)
    model: torch.nn.Module = task["Model"](*task["get_init_inputs"]()).eval()
    return model, task["get_inputs"]()


def _passes(answers: list[torch.Tensor], case: Case, tolerance: Tolerance) -> bool:
    wanted = case.expected.double()
    return any(
        answer.shape == wanted.shape
        and torch.allclose(answer.double(), wanted, rtol=tolerance.rtol, atol=tolerance.atol)
        for answer in answers
    )


def _zeros(case: Case) -> list[torch.Tensor]:
    return [torch.zeros_like(case.expected)]


def _mean(case: Case) -> list[torch.Tensor]:
    flat = case.expected.double()
    if flat.numel() == 1:
        return []  # the mean of one element is the answer itself
    everywhere = torch.full_like(flat, flat.mean().item())
    rows = flat.mean(-1, keepdim=True).expand_as(flat)
    # The mean of rows of one element is the answer itself.
    return [everywhere, rows] if flat.ndim and flat.shape[-1] > 1 else [everywhere]


def _an_input(case: Case) -> list[torch.Tensor]:
    return list(case.inputs)


def _first_input(case: Case) -> list[torch.Tensor]:
    """Its values in memory order, cut or repeated to the output's size."""
    flat, size = case.inputs[0].flatten(), case.expected.numel()
    return [flat.repeat(-(-size // flat.numel()))[:size].reshape(case.expected.shape)]


def _replay(case: Case) -> list[torch.Tensor]:
    weightless = torch.equal(case.replay_weights, case.expected)
    return [case.replay_all] if weightless else [case.replay_weights, case.replay_all]


CHEATS: Mapping[str, Callable[[Case], list[torch.Tensor]]] = MappingProxyType(
    {
        "zeros": _zeros,
        "mean": _mean,
        "identity": _an_input,
        "first input": _first_input,
        "seed replay": _replay,
    }
)
