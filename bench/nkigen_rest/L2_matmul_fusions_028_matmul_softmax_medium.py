"""matmul_softmax_medium: attention weights: scaled scores and their softmax."""

import math

import torch

SIZES = {
    "reduced": {"batch": 1, "heads": 3, "steps": 37, "dim": 32},
    "full": {"batch": 4, "heads": 12, "steps": 128, "dim": 64},
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
