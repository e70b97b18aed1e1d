"""conv1d_k3: one-dimensional convolution, kernel 3.

Repaired: weights and bias are inputs that are drawn anew.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "cin": 16, "cout": 16, "length": 37},
    "full": {"batch": 8, "cin": 64, "cout": 64, "length": 256},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, cin: int, cout: int) -> None:
        super().__init__()
        self.conv = torch.nn.Conv1d(cin, cout, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["cin"], SIZE["length"])]


def get_init_inputs() -> list[int]:
    return [SIZE["cin"], SIZE["cout"]]
