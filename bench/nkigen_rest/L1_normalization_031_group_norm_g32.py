"""group_norm_g32: group norm with 32 groups of channels.

Repaired: norms have affine parameters that are not the identity.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "channels": 64, "groups": 32, "side": 9},
    "full": {"batch": 8, "channels": 256, "groups": 32, "side": 16},
}
SIZE = SIZES["reduced"]


def group_norm(groups: int, channels: int) -> torch.nn.GroupNorm:
    # Affine parameters of a network that was trained, so that neither can be dropped.
    norm = torch.nn.GroupNorm(groups, channels)
    torch.nn.init.normal_(norm.weight, 1, 0.3)
    torch.nn.init.normal_(norm.bias, 0, 0.3)
    return norm


class Model(torch.nn.Module):
    def __init__(self, channels: int, groups: int) -> None:
        super().__init__()
        self.norm = group_norm(groups, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return [SIZE["channels"], SIZE["groups"]]
