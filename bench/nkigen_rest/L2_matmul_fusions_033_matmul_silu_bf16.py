"""matmul_silu_bf16: a linear layer without bias, and SiLU, in bfloat16.

Repaired: weights are inputs that are drawn anew. They are bfloat16 like x, so that the reference
runs.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 67, "width": 130, "hidden": 200},
    "full": {"batch": 8, "steps": 512, "width": 4096, "hidden": 11008},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(width, hidden, bias=False).bfloat16()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.silu(self.linear(x))


def get_inputs() -> list[torch.Tensor]:
    return [(torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]) * 2).bfloat16()]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["hidden"]]
