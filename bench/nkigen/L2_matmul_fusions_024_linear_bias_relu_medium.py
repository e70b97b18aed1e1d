"""linear_bias_relu_medium: a linear layer with bias, and ReLU.

Repaired: weights and bias are inputs that are drawn anew.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "rows": 67, "width": 96, "hidden": 96},
    "full": {"batch": 8, "rows": 128, "width": 768, "hidden": 768},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(width, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["rows"], SIZE["width"]) * 2]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["hidden"]]
