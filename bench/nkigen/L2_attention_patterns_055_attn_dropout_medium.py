"""attn_dropout_medium: attention with dropout, which does nothing in evaluation."""

import math

import torch

SIZES = {
    "reduced": {"batch": 1, "heads": 2, "steps": 70, "dim": 32},
    "full": {"batch": 4, "heads": 12, "steps": 256, "dim": 64},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dropout = torch.nn.Dropout(0.1)

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        weights = self.dropout(weights)
        return weights @ v


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["batch"], SIZE["heads"], SIZE["steps"], SIZE["dim"]) * 2,
        torch.randn(SIZE["batch"], SIZE["heads"], SIZE["steps"], SIZE["dim"]),
        torch.randn(SIZE["batch"], SIZE["heads"], SIZE["steps"], SIZE["dim"]),
    ]


def get_init_inputs() -> list[int]:
    return []
