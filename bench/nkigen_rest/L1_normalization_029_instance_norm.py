"""instance_norm: instance norm without affine parameters."""

import torch

SIZES = {
    "reduced": {"batch": 2, "channels": 67, "side": 13},
    "full": {"batch": 8, "channels": 128, "side": 32},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = torch.nn.InstanceNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return [SIZE["channels"]]
