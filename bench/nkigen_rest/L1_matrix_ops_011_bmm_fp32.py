"""bmm_fp32: a product of two matrices for each of a batch."""

import torch

SIZES = {
    "reduced": {"batch": 3, "rows": 70, "depth": 130, "cols": 65},
    "full": {"batch": 8, "rows": 256, "depth": 256, "cols": 256},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.bmm(a, b)


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["batch"], SIZE["rows"], SIZE["depth"]),
        torch.randn(SIZE["batch"], SIZE["depth"], SIZE["cols"]),
    ]


def get_init_inputs() -> list[int]:
    return []
