"""cat_dim1: two matrices side by side.

Repaired: two inputs instead of one used twice, so that swapped operands are seen.
"""

import torch

SIZES = {
    "reduced": {"rows": 70, "cols": 65},
    "full": {"rows": 512, "cols": 512},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.cat((x, y), dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["cols"]), torch.randn(SIZE["rows"], SIZE["cols"])]


def get_init_inputs() -> list[int]:
    return []
