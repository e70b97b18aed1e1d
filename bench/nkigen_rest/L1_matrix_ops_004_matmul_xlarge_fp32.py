"""matmul_xlarge_fp32: product of two matrices."""

import torch

SIZES = {
    "reduced": {"rows": 150, "depth": 257, "cols": 530},
    "full": {"rows": 2048, "depth": 2048, "cols": 2048},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["depth"]), torch.randn(SIZE["depth"], SIZE["cols"])]


def get_init_inputs() -> list[int]:
    return []
