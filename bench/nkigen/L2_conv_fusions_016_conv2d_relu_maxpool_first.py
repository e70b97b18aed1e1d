"""conv2d_relu_maxpool_first: convolution with kernel 7, ReLU and maximum pooling.

Repaired: weights and bias are inputs that are drawn anew.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "cin": 3, "cout": 16, "side": 20},
    "full": {"batch": 8, "cin": 3, "cout": 64, "side": 224},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, cin: int, cout: int) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(cin, cout, 7, padding=3),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(3, stride=2, padding=1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["cin"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return [SIZE["cin"], SIZE["cout"]]
