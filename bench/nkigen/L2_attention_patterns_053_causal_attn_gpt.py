"""causal_attn_gpt: attention of each step to itself and those before."""

import math

import torch

SIZES = {
    "reduced": {"batch": 1, "heads": 2, "steps": 70, "dim": 32},
    "full": {"batch": 2, "heads": 12, "steps": 1024, "dim": 64},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        steps = q.shape[-2]
        late = torch.triu(torch.ones(steps, steps, dtype=torch.bool), diagonal=1)
        weights = torch.softmax(scores.masked_fill(late, float("-inf")), dim=-1)
        return weights @ v


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["batch"], SIZE["heads"], SIZE["steps"], SIZE["dim"]) * 2,
        torch.randn(SIZE["batch"], SIZE["heads"], SIZE["steps"], SIZE["dim"]),
        torch.randn(SIZE["batch"], SIZE["heads"], SIZE["steps"], SIZE["dim"]),
    ]


def get_init_inputs() -> list[int]:
    return []
