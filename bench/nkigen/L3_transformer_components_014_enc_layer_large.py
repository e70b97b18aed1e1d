"""enc_layer_large: transformer encoder layer, norms first.

Repaired: weights are inputs that are drawn anew, and norms have affine parameters that are not the
identity.
"""

import math

import torch

SIZES = {
    "reduced": {"batch": 1, "steps": 37, "width": 96, "heads": 3, "hidden": 160},
    "full": {"batch": 2, "steps": 256, "width": 1024, "heads": 16, "hidden": 4096},
}
SIZE = SIZES["reduced"]


def layer_norm(width: int) -> torch.nn.LayerNorm:
    # Affine parameters of a network that was trained, so that neither can be dropped.
    norm = torch.nn.LayerNorm(width)
    torch.nn.init.normal_(norm.weight, 1, 0.3)
    torch.nn.init.normal_(norm.bias, 0, 0.3)
    return norm


def feed_forward(width: int, hidden: int) -> torch.nn.Sequential:
    return torch.nn.Sequential(
        torch.nn.Linear(width, hidden), torch.nn.GELU(), torch.nn.Linear(hidden, width)
    )


class Attention(torch.nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q_proj = torch.nn.Linear(width, width)
        self.k_proj = torch.nn.Linear(width, width)
        self.v_proj = torch.nn.Linear(width, width)
        self.out_proj = torch.nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q = self.split(self.q_proj(x))
        k, v = self.split(self.k_proj(x)), self.split(self.v_proj(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.out_proj(mixed.transpose(1, 2).flatten(2))

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Model(torch.nn.Module):
    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = layer_norm(width), layer_norm(width)
        self.attention = Attention(width, heads)
        self.feed_forward = feed_forward(width, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mixed = x + self.attention(self.norm1(x))
        return mixed + self.feed_forward(self.norm2(mixed))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"])]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["heads"], SIZE["hidden"]]
