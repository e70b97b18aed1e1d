"""swish_fp32: x times its sigmoid, written out.

Noted: the same function as silu_fp32, written out.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "rows": 131, "cols": 96},
    "full": {"batch": 16, "rows": 512, "cols": 512},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["rows"], SIZE["cols"]) * 2]


def get_init_inputs() -> list[int]:
    return []
