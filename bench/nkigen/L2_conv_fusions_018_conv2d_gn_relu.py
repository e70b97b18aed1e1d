"""conv2d_gn_relu: convolution with kernel 3, group norm over groups of 8 channels and ReLU.

Repaired: weights are inputs that are drawn anew; running statistics and affine parameters are
not those of an untrained network.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "cin": 32, "cout": 32, "groups": 4, "side": 14},
    "full": {"batch": 8, "cin": 256, "cout": 256, "groups": 32, "side": 16},
}
SIZE = SIZES["reduced"]


def group_norm(groups: int, channels: int) -> torch.nn.GroupNorm:
    norm = torch.nn.GroupNorm(groups, channels)
    torch.nn.init.normal_(norm.weight, 1, 0.3)
    torch.nn.init.normal_(norm.bias, 0, 0.3)
    return norm


class Model(torch.nn.Module):
    def __init__(self, cin: int, cout: int, groups: int) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(cin, cout, 3, padding=1, bias=False),
            group_norm(groups, cout),
            torch.nn.ReLU(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["cin"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return [SIZE["cin"], SIZE["cout"], SIZE["groups"]]
