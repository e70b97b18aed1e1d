"""avg_pool2d_k3: average under windows of 3 by 3, the padding counted."""

import torch

SIZES = {
    "reduced": {"batch": 2, "channels": 24, "side": 13},
    "full": {"batch": 8, "channels": 64, "side": 32},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.avg_pool2d(x, 3, stride=1, padding=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return []
