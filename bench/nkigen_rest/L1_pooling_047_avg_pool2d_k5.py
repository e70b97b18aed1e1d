"""avg_pool2d_k5: average under every second window of 5 by 5, the padding counted."""

import torch

SIZES = {
    "reduced": {"batch": 2, "channels": 24, "side": 15},
    "full": {"batch": 8, "channels": 64, "side": 64},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.avg_pool2d(x, 5, stride=2, padding=2)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return []
