"""rope_embedding: rotary embedding, the halves of a row turned against each other.

Noted: cos and sin are independent, not of one angle; the result is linear in each, so no error
hides.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "heads": 3, "steps": 67, "dim": 32},
    "full": {"batch": 4, "heads": 32, "steps": 128, "dim": 128},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-second, first], dim=-1) * sin


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["batch"], SIZE["heads"], SIZE["steps"], SIZE["dim"]),
        torch.randn(1, 1, SIZE["steps"], SIZE["dim"]),
        torch.randn(1, 1, SIZE["steps"], SIZE["dim"]),
    ]


def get_init_inputs() -> list[int]:
    return []
