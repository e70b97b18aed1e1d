"""attn_full_bert: attention with an additive mask for each key.

Repaired: the mask is drawn, not zero.
"""

import math

import torch

SIZES = {
    "reduced": {"batch": 1, "heads": 2, "steps": 70, "dim": 32},
    "full": {"batch": 8, "heads": 12, "steps": 128, "dim": 64},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores + mask, dim=-1)
        return weights @ v


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["batch"], SIZE["heads"], SIZE["steps"], SIZE["dim"]) * 2,
        torch.randn(SIZE["batch"], SIZE["heads"], SIZE["steps"], SIZE["dim"]),
        torch.randn(SIZE["batch"], SIZE["heads"], SIZE["steps"], SIZE["dim"]),
        torch.randn(SIZE["batch"], 1, 1, SIZE["steps"]) * 2,
    ]


def get_init_inputs() -> list[int]:
    return []
