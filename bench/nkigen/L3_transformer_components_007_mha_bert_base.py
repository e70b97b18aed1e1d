"""mha_bert_base: self-attention of several heads, without mask and biases.

Repaired: weights are inputs that are drawn anew.
"""

import math

import torch

SIZES = {
    "reduced": {"batch": 1, "steps": 37, "width": 96, "heads": 3},
    "full": {"batch": 8, "steps": 128, "width": 768, "heads": 12},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q_proj = torch.nn.Linear(width, width, bias=False)
        self.k_proj = torch.nn.Linear(width, width, bias=False)
        self.v_proj = torch.nn.Linear(width, width, bias=False)
        self.out_proj = torch.nn.Linear(width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q = self.split(self.q_proj(x))
        k, v = self.split(self.k_proj(x)), self.split(self.v_proj(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.out_proj(mixed.transpose(1, 2).flatten(2))

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"])]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["heads"]]
