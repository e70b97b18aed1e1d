"""max_pool2d_large: largest value under every second window of 3 by 3, large image."""

import torch

SIZES = {
    "reduced": {"batch": 2, "channels": 24, "side": 28},
    "full": {"batch": 16, "channels": 64, "side": 112},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.max_pool2d(x, 3, stride=2, padding=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return []
