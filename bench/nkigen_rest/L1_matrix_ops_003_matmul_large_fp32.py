"""matmul_large_fp32: product of two matrices."""

import torch

SIZES = {
    "reduced": {"rows": 131, "depth": 200, "cols": 130},
    "full": {"rows": 1024, "depth": 1024, "cols": 1024},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["depth"]), torch.randn(SIZE["depth"], SIZE["cols"])]


def get_init_inputs() -> list[int]:
    return []
