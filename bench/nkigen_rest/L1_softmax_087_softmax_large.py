"""softmax_large: softmax over the words of a vocabulary.

Repaired: the logits are spread, so that each row has values far above the tolerance; the judge
holds the error against the size of the output. With logits of spread 1 zeros were wrong in 5
elements of a million.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 17, "words": 1031},
    "full": {"batch": 32, "steps": 128, "words": 50257},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["words"]) * 5]


def get_init_inputs() -> list[int]:
    return []
