"""matmul_silu_small: a linear layer without bias, and SiLU.

Repaired: weights are inputs that are drawn anew.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 67, "width": 96, "hidden": 96},
    "full": {"batch": 8, "steps": 256, "width": 768, "hidden": 768},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(width, hidden, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.silu(self.linear(x))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]) * 2]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["hidden"]]
