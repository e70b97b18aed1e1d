"""cosine_similarity: cosine of the angle between two vectors.

Noted: cosines of independent vectors are small, so the judge holds the error against their size.
"""

import torch

SIZES = {
    "reduced": {"batch": 3, "steps": 67, "width": 96},
    "full": {"batch": 32, "steps": 128, "width": 768},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cosine_similarity(x, y, dim=-1)


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]),
        torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]),
    ]


def get_init_inputs() -> list[int]:
    return []
