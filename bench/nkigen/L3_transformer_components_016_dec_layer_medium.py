"""dec_layer_medium: decoder layer: causal self-attention, cross-attention, feed-forward.

Repaired: weights are inputs that are drawn anew, and norms have affine parameters that are not the
identity.
"""

import math

import torch

SIZES = {
    "reduced": {"batch": 1, "steps": 37, "width": 96, "heads": 3, "hidden": 160},
    "full": {"batch": 4, "steps": 256, "width": 768, "heads": 12, "hidden": 3072},
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
    def __init__(self, width: int, heads: int, *, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.q_proj = torch.nn.Linear(width, width)
        self.k_proj = torch.nn.Linear(width, width)
        self.v_proj = torch.nn.Linear(width, width)
        self.out_proj = torch.nn.Linear(width, width)

    def forward(self, x: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        q = self.split(self.q_proj(x))
        k, v = self.split(self.k_proj(context)), self.split(self.v_proj(context))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if self.causal:
            late = torch.triu(torch.ones(scores.shape[-2:], dtype=torch.bool), diagonal=1)
            scores = scores.masked_fill(late, float("-inf"))
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.out_proj(mixed.transpose(1, 2).flatten(2))

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Model(torch.nn.Module):
    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (layer_norm(width) for _ in range(3))
        self.attention = Attention(width, heads, causal=True)
        self.cross = Attention(width, heads, causal=False)
        self.feed_forward = feed_forward(width, hidden)

    def forward(self, x: torch.Tensor, encoded: torch.Tensor) -> torch.Tensor:
        normed = self.norm1(x)
        x = x + self.attention(normed, normed)
        x = x + self.cross(self.norm2(x), encoded)
        return x + self.feed_forward(self.norm3(x))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]) for _ in range(2)]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["heads"], SIZE["hidden"]]
