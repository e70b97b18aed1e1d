"""mlp_2layer_1024: a feed-forward branch after LayerNorm, added to its input.

Repaired: weights are inputs that are drawn anew, and norms have affine parameters that are not the
identity.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 33, "width": 96, "hidden": 160},
    "full": {"batch": 8, "steps": 128, "width": 1024, "hidden": 4096},
}
SIZE = SIZES["reduced"]


def layer_norm(width: int) -> torch.nn.LayerNorm:
    # Affine parameters of a network that was trained, so that neither can be dropped.
    norm = torch.nn.LayerNorm(width)
    torch.nn.init.normal_(norm.weight, 1, 0.3)
    torch.nn.init.normal_(norm.bias, 0, 0.3)
    return norm


class Model(torch.nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            layer_norm(width),
            torch.nn.Linear(width, hidden),
            torch.nn.GELU(),
            torch.nn.Dropout(0.1),
            torch.nn.Linear(hidden, width),
            torch.nn.Dropout(0.1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.layers(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"])]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["hidden"]]
