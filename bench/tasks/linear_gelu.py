"""A linear layer and the exact GELU."""

import torch


class Model(torch.nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.up = torch.nn.Linear(width, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(self.up(x))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(130, 192) * 2]


def get_init_inputs() -> list[float]:
    return [192, 320]
