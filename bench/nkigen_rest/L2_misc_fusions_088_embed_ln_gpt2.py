"""embed_ln_gpt2: rows of a table picked by number, and LayerNorm.

Repaired: weights are inputs that are drawn anew, and norms have affine parameters that are not
the identity.
Repaired: the numbers of the words are drawn within the vocabulary.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 67, "words": 307, "width": 96},
    "full": {"batch": 8, "steps": 128, "words": 50257, "width": 768},
}
SIZE = SIZES["reduced"]


def layer_norm(width: int) -> torch.nn.LayerNorm:
    # Affine parameters of a network that was trained, so that neither can be dropped.
    norm = torch.nn.LayerNorm(width)
    torch.nn.init.normal_(norm.weight, 1, 0.3)
    torch.nn.init.normal_(norm.bias, 0, 0.3)
    return norm


class Model(torch.nn.Module):
    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(words, width)
        self.norm = layer_norm(width)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.norm(self.embed(ids))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randint(0, SIZE["words"], (SIZE["batch"], SIZE["steps"]))]


def get_init_inputs() -> list[int]:
    return [SIZE["words"], SIZE["width"]]
