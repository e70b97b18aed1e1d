"""Attention as models write it: a name, what computes it, and its inputs."""

import math

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - PyTorch's own abbreviation

from tests.unit.lowering.modules import Called


class Heads(nn.Module):
    """Projections in, heads apart, attention, heads together, a projection out."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.joint = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, steps, width = x.shape
        parts = self.joint(x).view(batch, steps, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        y = plain(q, k, v).transpose(1, 2).reshape(batch, steps, width)
        return self.out(y)


def plain(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(scores, dim=-1) @ v


def masked(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) * 0.25
    return torch.softmax(scores + mask, dim=-1) @ v


def causal(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    late = torch.triu(torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool), diagonal=1)
    return torch.softmax(scores.masked_fill(late, float("-inf")), dim=-1) @ v


def added_triangle(q, k, v):
    steps = q.shape[-2]
    late = torch.triu(torch.full((steps, steps), float("-inf")), diagonal=1)
    return torch.softmax(q @ k.transpose(-2, -1) + late, dim=-1) @ v


def grouped(q, k, v):
    group = q.shape[1] // k.shape[1]
    return plain(q, k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1))


def merged(q, k, v):
    y = plain(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
    return y.transpose(1, 2).reshape(q.shape[0], q.shape[1], -1)


def hopeless_row(q, k, v):
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool)
    mask[2] = False
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def values(*shape):
    return torch.randn(*shape)


def whole(*shape):
    """Large whole numbers: scores of up to a million without a rounding error."""
    return lambda: torch.randint(-32, 33, shape) * 32.0


def heads(*shapes, function=plain):
    return (lambda: Called(function), *(lambda shape=shape: values(*shape) for shape in shapes))


CASES = {
    "plain": heads(*[(2, 3, 40, 16)] * 3),
    "four_heads_in_one_turn": heads(*[(2, 4, 50, 32)] * 3),
    "two_heads_in_one_turn": heads(*[(2, 4, 130, 64)] * 3),
    "causal_heads_in_one_turn": heads(*[(2, 2, 256, 64)] * 3, function=causal),
    "heads_in_two_stacks": heads(*[(1, 8, 128, 64)] * 3),
    "heads_in_two_ragged_stacks": heads(*[(2, 8, 53, 32)] * 3, (8, 53, 53), function=masked),
    "causal_heads_in_two_stacks": heads(*[(1, 4, 128, 64)] * 3, function=causal),
    "heads_of_one_key": heads((1, 8, 40, 128), (1, 2, 40, 128), (1, 2, 40, 128), function=grouped),
    "half_in_stacks": heads(
        *[(2, 4, 64, 64)] * 3, function=lambda *x: plain(*(each.bfloat16() for each in x))
    ),
    "masks_of_heads_in_one_turn": heads(*[(2, 4, 40, 32)] * 3, (4, 1, 40), function=masked),
    "one_row": heads((2, 3, 1, 16), (2, 3, 50, 16), (2, 3, 50, 16)),
    "cross": heads((2, 2, 70, 32), (2, 2, 150, 32), (2, 2, 150, 24)),
    "ragged": heads(*[(1, 2, 197, 32)] * 3),
    "ragged_banks": heads((1, 1, 131, 32), (1, 1, 577, 32), (1, 1, 577, 32)),
    "banks": heads((1, 2, 128, 32), (1, 2, 1024, 32), (1, 2, 1024, 32)),
    "deep": heads(*[(1, 2, 64, 192)] * 3),
    "no_batch": heads((60, 16), (90, 16), (90, 16)),
    "mask_of_keys": heads(*[(2, 3, 64, 16)] * 3, (2, 1, 1, 64), function=masked),
    "mask_of_all": heads(*[(2, 3, 64, 16)] * 3, (2, 1, 64, 64), function=masked),
    "mask_of_heads": heads(*[(2, 3, 64, 16)] * 3, (3, 64, 64), function=masked),
    "mask_in_banks": heads(
        (2, 1, 32, 16), (2, 1, 1024, 16), (2, 1, 1024, 16), (2, 1, 1, 1024), function=masked
    ),
    "mask_ragged": heads(*[(1, 2, 197, 16)] * 3, (1, 1, 197, 197), function=masked),
    "causal": heads(*[(2, 2, 64, 16)] * 3, function=causal),
    "causal_tiles": heads(*[(1, 2, 384, 16)] * 3, function=causal),
    "causal_banks": heads(*[(1, 1, 640, 16)] * 3, function=causal),
    "causal_ragged": heads(*[(1, 2, 197, 16)] * 3, function=causal),
    "added_triangle": heads(*[(1, 2, 256, 16)] * 3, function=added_triangle),
    "grouped": heads((2, 6, 50, 16), (2, 2, 50, 16), (2, 2, 50, 16), function=grouped),
    "one_kv_head": heads((2, 4, 50, 16), (2, 1, 50, 16), (2, 1, 50, 16), function=grouped),
    "merged": heads(*[(2, 40, 3, 16)] * 3, function=merged),
    "merged_ragged": heads(*[(2, 150, 3, 16)] * 3, function=merged),
    "sdpa": heads(*[(2, 2, 40, 16)] * 3, function=F.scaled_dot_product_attention),
    "sdpa_no_key": heads(*[(1, 2, 40, 16)] * 3, function=hopeless_row),
    "half": heads(
        *[(2, 2, 40, 16)] * 3, function=lambda *x: plain(*(each.bfloat16() for each in x))
    ),
    "large_scores": (
        lambda: Called(plain),
        whole(2, 4, 96, 64),
        whole(2, 4, 96, 64),
        lambda: values(2, 4, 96, 64),
    ),
    "large_scores_upright": (
        lambda: Called(plain),
        whole(1, 2, 128, 64),
        whole(1, 2, 512, 64),
        lambda: values(1, 2, 512, 64),
    ),
    "upright_heads_of_one_key": heads(
        (1, 4, 192, 128), (1, 2, 1024, 128), (1, 2, 1024, 128), function=grouped
    ),
    "upright_merged": heads((1, 128, 2, 64), (1, 512, 2, 64), (1, 512, 2, 64), function=merged),
}
"""Every one is a single kernel, whatever comes before and after."""

AROUND = {"heads": (lambda: Heads(48, 3), lambda: values(2, 40, 48))}
"""Attention inside of more."""
