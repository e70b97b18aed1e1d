"""RMSNorm in bfloat16 that sums in float32."""

import torch


class Model(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter((1 + 0.5 * torch.randn(width)).bfloat16())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return normed.bfloat16() * self.weight


def get_inputs() -> list[torch.Tensor]:
    return [(torch.randn(128, 256) * 2).bfloat16()]


def get_init_inputs() -> list[float]:
    return [256]
