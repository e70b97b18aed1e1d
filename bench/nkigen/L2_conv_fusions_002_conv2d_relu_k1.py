"""conv2d_relu_k1: convolution with kernel 1, a second bias, and ReLU.

Repaired: weights and bias are inputs that are drawn anew.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "cin": 16, "cout": 32, "side": 14},
    "full": {"batch": 8, "cin": 128, "cout": 256, "side": 16},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, cin: int, cout: int) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(cin, cout, 1)
        self.bias = torch.nn.Parameter(torch.randn(cout, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.conv(x) + self.bias)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["cin"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return [SIZE["cin"], SIZE["cout"]]
