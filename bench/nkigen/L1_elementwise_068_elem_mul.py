"""elem_mul: product of two tensors."""

import torch

SIZES = {
    "reduced": {"batch": 2, "rows": 131, "cols": 96},
    "full": {"batch": 16, "rows": 512, "cols": 512},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x * y


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["batch"], SIZE["rows"], SIZE["cols"]),
        torch.randn(SIZE["batch"], SIZE["rows"], SIZE["cols"]),
    ]


def get_init_inputs() -> list[int]:
    return []
