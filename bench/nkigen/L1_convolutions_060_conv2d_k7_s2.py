"""conv2d_k7_s2: two-dimensional convolution, kernel 7, stride 2.

Repaired: weights and bias are inputs that are drawn anew.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "cin": 3, "cout": 20, "side": 20},
    "full": {"batch": 8, "cin": 3, "cout": 64, "side": 224},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, cin: int, cout: int) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(cin, cout, 7, stride=2, padding=3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["cin"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return [SIZE["cin"], SIZE["cout"]]
