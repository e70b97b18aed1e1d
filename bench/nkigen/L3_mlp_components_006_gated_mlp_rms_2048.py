"""gated_mlp_rms_2048: a gated feed-forward branch after RMSNorm, added to its input.

Repaired: weights are inputs that are drawn anew, and norms have affine parameters that are not the
identity.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 33, "width": 96, "hidden": 160},
    "full": {"batch": 2, "steps": 256, "width": 2048, "hidden": 5504},
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


class Model(torch.nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.norm = RMSNorm(width)
        self.mlp = GatedMLP(width, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.mlp(self.norm(x))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"])]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["hidden"]]
