"""grouped_conv_shuffle: grouped 1x1 convolution, batch norm, ReLU, and a shuffle of the channels.

Repaired: weights are inputs that are drawn anew; running statistics and affine parameters are
not those of an untrained network.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "channels": 32, "groups": 4, "side": 9},
    "full": {"batch": 8, "channels": 128, "groups": 4, "side": 16},
}
SIZE = SIZES["reduced"]


def batch_norm(channels: int) -> torch.nn.BatchNorm2d:
    norm = torch.nn.BatchNorm2d(channels).eval()
    # Statistics and affine parameters of a network that was trained, so that none can be dropped.
    torch.nn.init.normal_(norm.weight, 1, 0.3)
    torch.nn.init.normal_(norm.bias, 0, 0.3)
    norm.running_mean = torch.randn(channels) * 0.3
    norm.running_var = torch.rand(channels) * 1.5 + 0.5
    return norm


class Model(torch.nn.Module):
    def __init__(self, channels: int, groups: int) -> None:
        super().__init__()
        self.groups = groups
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(channels, channels, 1, groups=groups),
            batch_norm(channels),
            torch.nn.ReLU(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layers(x)
        batch, channels, height, width = y.shape
        grouped = y.reshape(batch, self.groups, channels // self.groups, height, width)
        return grouped.transpose(1, 2).reshape(batch, channels, height, width)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return [SIZE["channels"], SIZE["groups"]]
