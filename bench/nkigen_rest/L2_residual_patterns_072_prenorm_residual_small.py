"""prenorm_residual_small: a feed-forward branch after LayerNorm, added to its input.

Repaired: weights are inputs that are drawn anew, and norms have affine parameters that are not
the identity.
Noted: the same function as mlp_2layer_768 in evaluation.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 67, "width": 96, "hidden": 160},
    "full": {"batch": 8, "steps": 128, "width": 768, "hidden": 3072},
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
        self.norm = layer_norm(width)
        self.fc1 = torch.nn.Linear(width, hidden)
        self.fc2 = torch.nn.Linear(hidden, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.fc2(torch.nn.functional.gelu(self.fc1(self.norm(x))))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"])]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["hidden"]]
