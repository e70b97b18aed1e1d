"""sum_large_axis0: sum of each long column."""

import torch

SIZES = {
    "reduced": {"rows": 300, "cols": 130},
    "full": {"rows": 4096, "cols": 1024},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(0)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["cols"])]


def get_init_inputs() -> list[int]:
    return []
