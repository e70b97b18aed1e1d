"""max_pool2d_k2_s2: largest value of each 2 by 2."""

import torch

SIZES = {
    "reduced": {"batch": 2, "channels": 130, "side": 14},
    "full": {"batch": 8, "channels": 128, "side": 32},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.max_pool2d(x, 2)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return []
