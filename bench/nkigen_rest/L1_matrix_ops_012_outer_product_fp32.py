"""outer_product_fp32: every product of an element of one vector and one of another."""

import torch

SIZES = {
    "reduced": {"rows": 130, "cols": 67},
    "full": {"rows": 1024, "cols": 1024},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.outer(a, b)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"]), torch.randn(SIZE["cols"])]


def get_init_inputs() -> list[int]:
    return []
