"""stack_dim0: two matrices on a new first axis.

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
        return torch.stack((x, y), dim=0)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["cols"]), torch.randn(SIZE["rows"], SIZE["cols"])]


def get_init_inputs() -> list[int]:
    return []
