"""se_block: squeeze and excite: each channel scaled by a network of their means.

Repaired: weights and bias are inputs that are drawn anew. The input has a mean of 1: means near 0
left the scale at the bias.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "channels": 32, "middle": 8, "side": 10},
    "full": {"batch": 8, "channels": 256, "middle": 16, "side": 16},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, channels: int, middle: int) -> None:
        super().__init__()
        self.fc1 = torch.nn.Linear(channels, middle)
        self.fc2 = torch.nn.Linear(middle, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        means = x.mean((2, 3))
        scale = torch.sigmoid(self.fc2(torch.relu(self.fc1(means))))
        return x * scale[:, :, None, None]


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"]) * 2 + 1]


def get_init_inputs() -> list[int]:
    return [SIZE["channels"], SIZE["middle"]]
