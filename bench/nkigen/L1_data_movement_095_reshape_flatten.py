"""reshape_flatten: all axes but the first made one.

Noted: no arithmetic; in a kernel, a copy.
"""

import torch

SIZES = {
    "reduced": {"batch": 3, "channels": 5, "side": 9},
    "full": {"batch": 8, "channels": 64, "side": 32},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(x.shape[0], -1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return []
