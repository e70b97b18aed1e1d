"""mlp_2layer_gelu_large: two linear layers with the erf form of GELU between.

Repaired: weights and bias are inputs that are drawn anew.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 33, "width": 200, "hidden": 300},
    "full": {"batch": 2, "steps": 512, "width": 4096, "hidden": 11008},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.fc1 = torch.nn.Linear(width, hidden)
        self.fc2 = torch.nn.Linear(hidden, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc2(torch.nn.functional.gelu(self.fc1(x)))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]) * 2]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["hidden"]]
