"""skip_scale_norm_1024: a scaled input and a residual added, and LayerNorm.

Repaired: scale and affine parameters are not the identity.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 67, "width": 130},
    "full": {"batch": 8, "steps": 128, "width": 1024},
}
SIZE = SIZES["reduced"]


def layer_norm(width: int) -> torch.nn.LayerNorm:
    # Affine parameters of a network that was trained, so that neither can be dropped.
    norm = torch.nn.LayerNorm(width)
    torch.nn.init.normal_(norm.weight, 1, 0.3)
    torch.nn.init.normal_(norm.bias, 0, 0.3)
    return norm


class Model(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(1 + 0.3 * torch.randn(width))
        self.norm = layer_norm(width)

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        return self.norm(x * self.scale + residual)


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]),
        torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]),
    ]


def get_init_inputs() -> list[int]:
    return [SIZE["width"]]
