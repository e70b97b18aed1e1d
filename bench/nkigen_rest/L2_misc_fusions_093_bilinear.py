"""bilinear: a bilinear form of two rows for each output.

Repaired: weights and bias are inputs that are drawn anew.
"""

import torch

SIZES = {
    "reduced": {"rows": 17, "left": 24, "right": 33, "out": 10},
    "full": {"rows": 32, "left": 256, "right": 256, "out": 256},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, left: int, right: int, out: int) -> None:
        super().__init__()
        self.bilinear = torch.nn.Bilinear(left, right, out)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.bilinear(x, y)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["left"]), torch.randn(SIZE["rows"], SIZE["right"])]


def get_init_inputs() -> list[int]:
    return [SIZE["left"], SIZE["right"], SIZE["out"]]
