"""The gated half of a feed-forward block: SiLU of one projection times another."""

import torch


class Model(torch.nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate = torch.nn.Linear(width, hidden, bias=False)
        self.up = torch.nn.Linear(width, hidden, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.silu(self.gate(x)) * self.up(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(96, 256) * 2]


def get_init_inputs() -> list[float]:
    return [256, 200]
