"""softmax_dim2_3d: softmax over the last axis.

Repaired: the logits are spread, so that each row has values far above the tolerance; the judge
holds the error against the size of the output.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 67, "width": 96},
    "full": {"batch": 8, "steps": 128, "width": 768},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=2)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]) * 3]


def get_init_inputs() -> list[int]:
    return []
