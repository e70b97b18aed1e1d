"""llama_block_7b: causal transformer block with RMSNorm, a gated feed-forward branch.

Repaired: weights are inputs that are drawn anew, and norms have affine parameters that are not the
identity.
Noted: no rotary embedding, whatever its name says.
"""

import math

import torch

SIZES = {
    "reduced": {"batch": 1, "steps": 37, "width": 96, "heads": 4, "kv_heads": 4, "hidden": 160},
    "full": {"batch": 2, "steps": 256, "width": 4096, "heads": 32, "kv_heads": 32, "hidden": 11008},
}
SIZE = SIZES["reduced"]


class RMSNorm(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(1 + 0.3 * torch.randn(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class GatedMLP(torch.nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate = torch.nn.Linear(width, hidden, bias=False)
        self.up = torch.nn.Linear(width, hidden, bias=False)
        self.down = torch.nn.Linear(hidden, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.nn.functional.silu(self.gate(x)) * self.up(x))


class Attention(torch.nn.Module):
    def __init__(self, width: int, heads: int, kv_heads: int) -> None:
        super().__init__()
        self.dim, self.group = width // heads, heads // kv_heads
        self.q_proj = torch.nn.Linear(width, width, bias=False)
        self.k_proj = torch.nn.Linear(width, kv_heads * self.dim, bias=False)
        self.v_proj = torch.nn.Linear(width, kv_heads * self.dim, bias=False)
        self.o_proj = torch.nn.Linear(width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q = self.split(self.q_proj(x))
        k = self.split(self.k_proj(x)).repeat_interleave(self.group, dim=1)
        v = self.split(self.v_proj(x)).repeat_interleave(self.group, dim=1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.dim)
        late = torch.triu(torch.ones(scores.shape[-2:], dtype=torch.bool), diagonal=1)
        mixed = torch.softmax(scores.masked_fill(late, float("-inf")), dim=-1) @ v
        return self.o_proj(mixed.transpose(1, 2).flatten(2))

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (-1, self.dim)).transpose(1, 2)


class Model(torch.nn.Module):
    def __init__(self, width: int, heads: int, kv_heads: int, hidden: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.attention = Attention(width, heads, kv_heads)
        self.mlp = GatedMLP(width, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mixed = x + self.attention(self.norm1(x))
        return mixed + self.mlp(self.norm2(mixed))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"])]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["heads"], SIZE["kv_heads"], SIZE["hidden"]]
