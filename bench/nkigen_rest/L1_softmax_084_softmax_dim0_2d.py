"""softmax_dim0_2d: softmax of each column.

Repaired: the logits are spread, so that each column has values far above the tolerance; the judge
holds the error against the size of the output.
"""

import torch

SIZES = {
    "reduced": {"rows": 130, "cols": 67},
    "full": {"rows": 1024, "cols": 512},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=0)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["cols"]) * 3]


def get_init_inputs() -> list[int]:
    return []
