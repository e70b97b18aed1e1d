"""residual_linear: a linear layer added to its input.

Repaired: weights and bias are inputs that are drawn anew.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 67, "width": 96},
    "full": {"batch": 8, "steps": 128, "width": 768},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.f = torch.nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.f(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"])]


def get_init_inputs() -> list[int]:
    return [SIZE["width"]]
