"""adaptive_avg_pool_1: average of each channel."""

import torch

SIZES = {
    "reduced": {"batch": 2, "channels": 130, "side": 7},
    "full": {"batch": 8, "channels": 2048, "side": 7},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.adaptive_avg_pool2d(x, 1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return []
