"""contiguous_after_transpose: the last two axes swapped and laid out anew.

Noted: the same values as permute_3d.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "rows": 33, "cols": 130},
    "full": {"batch": 8, "rows": 128, "cols": 768},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.transpose(1, 2).contiguous()


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["rows"], SIZE["cols"])]


def get_init_inputs() -> list[int]:
    return []
