"""permute_4d: channels moved last."""

import torch

SIZES = {
    "reduced": {"batch": 2, "channels": 20, "side": 13},
    "full": {"batch": 8, "channels": 64, "side": 32},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.permute(0, 2, 3, 1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return []
