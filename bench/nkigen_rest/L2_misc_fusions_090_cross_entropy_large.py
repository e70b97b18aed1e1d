"""cross_entropy_large: mean cross entropy of rows of logits against classes.

Repaired: the classes are drawn within their number. The logits are spread, so that the mean
differs from draw to draw by more than the tolerance.
Noted: the result has no dimension, and is judged as such.
"""

import torch

SIZES = {
    "reduced": {"rows": 130, "classes": 1031},
    "full": {"rows": 4096, "classes": 50257},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(logits, targets)


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["rows"], SIZE["classes"]) * 3,
        torch.randint(0, SIZE["classes"], (SIZE["rows"],)),
    ]


def get_init_inputs() -> list[int]:
    return []
