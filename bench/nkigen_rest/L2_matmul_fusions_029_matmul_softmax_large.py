"""matmul_softmax_large: attention weights: scaled scores and their softmax.

Repaired: queries of spread 2, so that rows have values far above the tolerance.
"""

import math

import torch

SIZES = {
    "reduced": {"batch": 1, "heads": 2, "steps": 70, "dim": 32},
    "full": {"batch": 4, "heads": 16, "steps": 256, "dim": 64},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        return torch.softmax(scores, dim=-1)


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["batch"], SIZE["heads"], SIZE["steps"], SIZE["dim"]) * 2,
        torch.randn(SIZE["batch"], SIZE["heads"], SIZE["steps"], SIZE["dim"]),
    ]


def get_init_inputs() -> list[int]:
    return []
