"""mean_3d_axis2: mean over the last axis.

Noted: the mean of many values is small, so the judge holds the error against its size.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 67, "width": 96},
    "full": {"batch": 8, "steps": 128, "width": 768},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean(2)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"])]


def get_init_inputs() -> list[int]:
    return []
