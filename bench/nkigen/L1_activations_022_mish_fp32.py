"""mish_fp32: x times tanh of softplus."""

import torch

SIZES = {
    "reduced": {"batch": 2, "rows": 131, "cols": 96},
    "full": {"batch": 16, "rows": 512, "cols": 512},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.mish(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["rows"], SIZE["cols"]) * 2]


def get_init_inputs() -> list[int]:
    return []
