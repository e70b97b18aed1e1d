"""index_select: rows picked by number.

Repaired: the numbers are an input, not a constant stride.
"""

import torch

SIZES = {
    "reduced": {"rows": 130, "cols": 40, "taken": 33},
    "full": {"rows": 1024, "cols": 512, "taken": 256},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.index_select(x, 0, index)


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["rows"], SIZE["cols"]),
        torch.randint(0, SIZE["rows"], (SIZE["taken"],)),
    ]


def get_init_inputs() -> list[int]:
    return []
