"""swin_window_attn: attention inside the windows of an image, added to its input.

Repaired: weights are inputs that are drawn anew, and norms have affine parameters that are not the
identity.
Noted: no shifted windows and no relative position bias.
"""

import math

import torch

SIZES = {
    "reduced": {"batch": 1, "side": 14, "window": 7, "width": 48, "heads": 3},
    "full": {"batch": 4, "side": 56, "window": 7, "width": 256, "heads": 8},
}
SIZE = SIZES["reduced"]


def layer_norm(width: int) -> torch.nn.LayerNorm:
    # Affine parameters of a network that was trained, so that neither can be dropped.
    norm = torch.nn.LayerNorm(width)
    torch.nn.init.normal_(norm.weight, 1, 0.3)
    torch.nn.init.normal_(norm.bias, 0, 0.3)
    return norm


class Model(torch.nn.Module):
    def __init__(self, width: int, heads: int, window: int) -> None:
        super().__init__()
        self.heads, self.window = heads, window
        self.norm = layer_norm(width)
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.proj = torch.nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, side, _, width = x.shape
        grid, window = side // self.window, self.window
        cut = self.norm(x).reshape(batch, grid, window, grid, window, width)
        tokens = cut.transpose(2, 3).reshape(-1, window * window, width)
        parts = self.qkv(tokens).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)
        mixed = self.proj((weights @ v).transpose(1, 2).flatten(2))
        back = mixed.reshape(batch, grid, grid, window, window, width).transpose(2, 3)
        return x + back.reshape(x.shape)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["side"], SIZE["side"], SIZE["width"])]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["heads"], SIZE["window"]]
