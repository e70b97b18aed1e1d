"""log_softmax_dim1: logarithm of the softmax of each row."""

import torch

SIZES = {
    "reduced": {"rows": 130, "cols": 67},
    "full": {"rows": 1024, "cols": 512},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(x, dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["cols"]) * 3]


def get_init_inputs() -> list[int]:
    return []
