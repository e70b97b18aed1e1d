"""matmul_wide_fp32: product of two matrices."""

import torch

SIZES = {
    "reduced": {"rows": 33, "depth": 300, "cols": 65},
    "full": {"rows": 128, "depth": 2048, "cols": 512},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["depth"]), torch.randn(SIZE["depth"], SIZE["cols"])]


def get_init_inputs() -> list[int]:
    return []
