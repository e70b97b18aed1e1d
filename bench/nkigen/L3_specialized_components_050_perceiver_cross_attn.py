"""perceiver_cross_attn: a few latents attend to many inputs, then feed-forward.

Repaired: weights are inputs that are drawn anew, and norms have affine parameters that are not the
identity.
"""

import math

import torch

SIZES = {
    "reduced": {"batch": 1, "latents": 19, "steps": 130, "width": 96, "heads": 3, "hidden": 160},
    "full": {"batch": 4, "latents": 64, "steps": 1024, "width": 512, "heads": 8, "hidden": 2048},
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

    def forward(self, x: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        q = self.split(self.q_proj(x))
        k, v = self.split(self.k_proj(context)), self.split(self.v_proj(context))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.out_proj(mixed.transpose(1, 2).flatten(2))

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Model(torch.nn.Module):
    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (layer_norm(width) for _ in range(3))
        self.attention = Attention(width, heads)
        self.feed_forward = feed_forward(width, hidden)

    def forward(self, latents: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        mixed = latents + self.attention(self.norm1(latents), self.norm2(inputs))
        return mixed + self.feed_forward(self.norm3(mixed))


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["batch"], SIZE["latents"], SIZE["width"]),
        torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]),
    ]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["heads"], SIZE["hidden"]]
