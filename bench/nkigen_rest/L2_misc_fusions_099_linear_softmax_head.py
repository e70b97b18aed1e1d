"""linear_softmax_head: a linear layer to a vocabulary, and its softmax.

Repaired: weights are inputs that are drawn anew. The input has a spread of 8: at 1 every output
lay below the tolerance, and zeros were accepted.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 17, "width": 96, "words": 1031},
    "full": {"batch": 8, "steps": 128, "width": 768, "words": 50257},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, width: int, words: int) -> None:
        super().__init__()
        self.head = torch.nn.Linear(width, words, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.head(x), dim=-1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]) * 8]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["words"]]
