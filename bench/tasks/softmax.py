"""Softmax of rows, with a ragged last tile."""

import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(200, 333) * 3]


def get_init_inputs() -> list[float]:
    return []
