"""gqa_large: attention whose query heads share key and value heads in groups."""

import math

import torch

SIZES = {
    "reduced": {"batch": 1, "heads": 4, "steps": 70, "dim": 48, "kv_heads": 2},
    "full": {"batch": 2, "heads": 32, "steps": 512, "dim": 128, "kv_heads": 8},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        group = q.shape[1] // k.shape[1]
        k = k.repeat_interleave(group, dim=1)
        v = v.repeat_interleave(group, dim=1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        return weights @ v


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["batch"], SIZE["heads"], SIZE["steps"], SIZE["dim"]) * 2,
        torch.randn(SIZE["batch"], SIZE["kv_heads"], SIZE["steps"], SIZE["dim"]),
        torch.randn(SIZE["batch"], SIZE["kv_heads"], SIZE["steps"], SIZE["dim"]),
    ]


def get_init_inputs() -> list[int]:
    return []
