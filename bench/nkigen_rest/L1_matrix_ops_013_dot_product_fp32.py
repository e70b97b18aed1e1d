"""dot_product_fp32: dot product of two vectors.

Noted: the result has no dimension, and is judged as such.
"""

import torch

SIZES = {
    "reduced": {"size": 300},
    "full": {"size": 4096},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.dot(a, b)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["size"]), torch.randn(SIZE["size"])]


def get_init_inputs() -> list[int]:
    return []
