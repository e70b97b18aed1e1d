"""LayerNorm whose gain and shift are drawn, so that neither can be dropped."""

import torch


class Model(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        torch.nn.init.normal_(self.norm.weight, 1, 0.5)
        torch.nn.init.normal_(self.norm.bias, 0, 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(150, 512) * 2 + 1]


def get_init_inputs() -> list[float]:
    return [512]
