"""max_pool2d_k3_s2: largest value under every second window of 3 by 3."""

import torch

SIZES = {
    "reduced": {"batch": 2, "channels": 67, "side": 17},
    "full": {"batch": 8, "channels": 128, "side": 64},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.max_pool2d(x, 3, stride=2, padding=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return []
