"""vit_patch_embed_224_16: patches of an image, a class token, places, LayerNorm.

Repaired: weights are inputs that are drawn anew, and norms have affine parameters that are not the
identity.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "side": 24, "patch": 8, "width": 48},
    "full": {"batch": 8, "side": 224, "patch": 16, "width": 768},
}
SIZE = SIZES["reduced"]


def layer_norm(width: int) -> torch.nn.LayerNorm:
    # Affine parameters of a network that was trained, so that neither can be dropped.
    norm = torch.nn.LayerNorm(width)
    torch.nn.init.normal_(norm.weight, 1, 0.3)
    torch.nn.init.normal_(norm.bias, 0, 0.3)
    return norm


class Model(torch.nn.Module):
    def __init__(self, side: int, patch: int, width: int) -> None:
        super().__init__()
        self.patches = torch.nn.Conv2d(3, width, patch, stride=patch)
        self.token = torch.nn.Parameter(torch.randn(1, 1, width))
        self.places = torch.nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, width))
        self.norm = layer_norm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        patches = self.patches(x).flatten(2).transpose(1, 2)
        token = self.token.expand(x.shape[0], -1, -1)
        return self.norm(torch.cat((token, patches), dim=1) + self.places)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], 3, SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return [SIZE["side"], SIZE["patch"], SIZE["width"]]
