"""mlp_dropout_large: two linear layers with GELU and dropout between.

Repaired: weights and bias are inputs that are drawn anew.
Noted: dropout does nothing in evaluation: the same function as mlp_2layer_gelu_medium.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 33, "width": 130, "hidden": 200},
    "full": {"batch": 4, "steps": 256, "width": 1024, "hidden": 4096},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.fc1 = torch.nn.Linear(width, hidden)
        self.fc2 = torch.nn.Linear(hidden, width)
        self.dropout = torch.nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.dropout(torch.nn.functional.gelu(self.fc1(x)))
        return self.fc2(hidden)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]) * 2]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["hidden"]]
