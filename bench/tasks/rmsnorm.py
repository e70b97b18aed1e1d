"""RMSNorm with a weight that is not one."""

import torch


class Model(torch.nn.Module):
    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(1 + 0.5 * torch.randn(width))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        square = x.pow(2).mean(-1, keepdim=True)
        return x * torch.rsqrt(square + self.eps) * self.weight


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(2, 100, 384) * 2]


def get_init_inputs() -> list[float]:
    return [384, 1e-6]
