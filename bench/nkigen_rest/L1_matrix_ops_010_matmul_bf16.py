"""matmul_bf16: product of two matrices in bfloat16.

Repaired: kernel and reference get the same bfloat16 values. One rounding step of bfloat16 is
allowed beside the tolerance, and the judge's error ratio decides.
"""

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
    return [
        torch.randn(SIZE["rows"], SIZE["depth"]).bfloat16(),
        torch.randn(SIZE["depth"], SIZE["cols"]).bfloat16(),
    ]


def get_init_inputs() -> list[int]:
    return []
