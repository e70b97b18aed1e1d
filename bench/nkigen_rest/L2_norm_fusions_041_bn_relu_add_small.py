"""bn_relu_add_small: batch norm, a residual added, and ReLU.

Repaired: running statistics and affine parameters are not those of an untrained network.
Noted: the sum comes before the ReLU, whatever the name says.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "channels": 24, "side": 13},
    "full": {"batch": 8, "channels": 64, "side": 56},
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
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = batch_norm(channels)

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.norm(x) + residual)


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"]),
        torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"]),
    ]


def get_init_inputs() -> list[int]:
    return [SIZE["channels"]]
