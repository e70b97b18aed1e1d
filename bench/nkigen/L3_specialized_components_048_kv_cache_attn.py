"""kv_cache_attn: one new token attends to a cache of keys and values.

Noted: the whole cache is valid; there is no length mask.
"""

import math

import torch

SIZES = {
    "reduced": {"batch": 2, "cached": 150, "heads": 3, "dim": 32},
    "full": {"batch": 4, "cached": 2048, "heads": 32, "dim": 128},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(
        self, q: torch.Tensor, k_cache: torch.Tensor, v_cache: torch.Tensor
    ) -> torch.Tensor:
        q, k, v = (each.transpose(1, 2) for each in (q, k_cache, v_cache))
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)
        return (weights @ v).transpose(1, 2)


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["batch"], 1, SIZE["heads"], SIZE["dim"]) * 2,
        torch.randn(SIZE["batch"], SIZE["cached"], SIZE["heads"], SIZE["dim"]),
        torch.randn(SIZE["batch"], SIZE["cached"], SIZE["heads"], SIZE["dim"]),
    ]


def get_init_inputs() -> list[int]:
    return []
