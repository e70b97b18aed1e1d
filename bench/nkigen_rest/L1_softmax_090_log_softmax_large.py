"""log_softmax_large: logarithm of the softmax over a vocabulary."""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 17, "words": 1031},
    "full": {"batch": 32, "steps": 128, "words": 50257},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(x, dim=-1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["words"]) * 3]


def get_init_inputs() -> list[int]:
    return []
