"""An element-wise chain of two inputs."""

import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x) * torch.sigmoid(gate) + 0.5 * x


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(257, 300), torch.randn(257, 300)]


def get_init_inputs() -> list[float]:
    return []
