"""max_axis1: largest value of each row."""

import torch

SIZES = {
    "reduced": {"rows": 130, "cols": 67},
    "full": {"rows": 1024, "cols": 512},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.max(1).values


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["cols"])]


def get_init_inputs() -> list[int]:
    return []
