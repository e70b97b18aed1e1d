"""permute_3d: the last two axes swapped, by permute.

Noted: the same values as contiguous_after_transpose.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "rows": 33, "cols": 130},
    "full": {"batch": 8, "rows": 128, "cols": 768},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.permute(0, 2, 1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["rows"], SIZE["cols"])]


def get_init_inputs() -> list[int]:
    return []
