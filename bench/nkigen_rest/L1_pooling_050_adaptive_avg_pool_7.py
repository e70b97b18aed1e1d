"""adaptive_avg_pool_7: average down to 7 by 7."""

import torch

SIZES = {
    "reduced": {"batch": 2, "channels": 130, "side": 14},
    "full": {"batch": 8, "channels": 512, "side": 14},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.adaptive_avg_pool2d(x, 7)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return []
