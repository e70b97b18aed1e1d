"""dense_concat_4: four tensors side by side, and a linear layer.

Repaired: weights and bias are inputs that are drawn anew.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 67, "width": 48, "out": 33},
    "full": {"batch": 8, "steps": 128, "width": 128, "out": 128},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.proj = torch.nn.Linear(4 * width, out)

    def forward(
        self, x0: torch.Tensor, x1: torch.Tensor, x2: torch.Tensor, x3: torch.Tensor
    ) -> torch.Tensor:
        return self.proj(torch.cat([x0, x1, x2, x3], dim=-1))


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]),
        torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]),
        torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]),
        torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]),
    ]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["out"]]
