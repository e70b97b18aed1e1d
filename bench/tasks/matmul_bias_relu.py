"""A product of two inputs, a bias and ReLU."""

import torch


class Model(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return torch.relu(a @ b + bias)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(129, 200), torch.randn(200, 257), torch.randn(257)]


def get_init_inputs() -> list[float]:
    return []
