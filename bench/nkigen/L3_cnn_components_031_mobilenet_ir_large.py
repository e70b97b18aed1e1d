"""mobilenet_ir_large: wide depthwise convolution between two 1x1 ones, no shortcut.

Repaired: weights are inputs that are drawn anew; running statistics and affine parameters are
not those of an untrained network.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "cin": 8, "wide": 24, "cout": 12, "side": 10},
    "full": {"batch": 8, "cin": 96, "wide": 576, "cout": 160, "side": 14},
}
SIZE = SIZES["reduced"]


def batch_norm(channels: int) -> torch.nn.BatchNorm2d:
    norm = torch.nn.BatchNorm2d(channels).eval()
    # Statistics and affine parameters of a network that was trained, so that none can be dropped.
    torch.nn.init.normal_(norm.weight, 1, 0.3)
    torch.nn.init.normal_(norm.bias, 0, 0.3)
    norm.running_mean = torch.randn(channels) * 0.3
    norm.running_var = torch.rand(channels) * 1.5 + 0.5
    return norm


class Model(torch.nn.Module):
    def __init__(self, cin: int, wide: int, cout: int) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(cin, wide, 1, bias=False),
            batch_norm(wide),
            torch.nn.ReLU6(),
            torch.nn.Conv2d(wide, wide, 3, stride=2, padding=1, groups=wide, bias=False),
            batch_norm(wide),
            torch.nn.ReLU6(),
            torch.nn.Conv2d(wide, cout, 1, bias=False),
            batch_norm(cout),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["cin"], SIZE["side"], SIZE["side"]) * 2]


def get_init_inputs() -> list[int]:
    return [SIZE["cin"], SIZE["wide"], SIZE["cout"]]
