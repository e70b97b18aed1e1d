"""linear_bias_relu_small: a linear layer with bias, and ReLU.

Repaired: weights and bias are inputs that are drawn anew.
"""

import torch

SIZES = {
    "reduced": {"rows": 67, "width": 96, "hidden": 96},
    "full": {"rows": 256, "width": 256, "hidden": 256},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(width, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["width"]) * 2]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["hidden"]]
