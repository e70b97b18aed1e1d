"""ln_dropout_large: LayerNorm and dropout.

Repaired: norms have affine parameters that are not the identity.
Noted: dropout does nothing in evaluation: the same function as layer_norm_large.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 131, "width": 200},
    "full": {"batch": 4, "steps": 512, "width": 1024},
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
        self.norm = layer_norm(width)
        self.dropout = torch.nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.dropout(self.norm(x))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"])]


def get_init_inputs() -> list[int]:
    return [SIZE["width"]]
