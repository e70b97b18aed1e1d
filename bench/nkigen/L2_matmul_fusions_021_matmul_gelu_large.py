"""matmul_gelu_large: product of two matrices, and the erf form of GELU."""

import torch

SIZES = {
    "reduced": {"rows": 70, "depth": 130, "cols": 65},
    "full": {"rows": 1024, "depth": 1024, "cols": 4096},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(a @ b)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["depth"]), torch.randn(SIZE["depth"], SIZE["cols"])]


def get_init_inputs() -> list[int]:
    return []
