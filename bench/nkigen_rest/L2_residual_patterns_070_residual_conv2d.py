"""residual_conv2d: a convolution with kernel 3 added to its input.

Repaired: weights and bias are inputs that are drawn anew.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "channels": 24, "side": 13},
    "full": {"batch": 8, "channels": 64, "side": 32},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.f = torch.nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.f(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return [SIZE["channels"]]
