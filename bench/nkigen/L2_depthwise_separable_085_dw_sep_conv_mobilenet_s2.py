"""dw_sep_conv_mobilenet_s2: depthwise, kernel 3, then 1x1 convolution, each with norm and ReLU.

Repaired: weights are inputs that are drawn anew; running statistics and affine parameters are
not those of an untrained network.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "cin": 12, "cout": 20, "side": 13},
    "full": {"batch": 8, "cin": 96, "cout": 192, "side": 56},
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
    def __init__(self, cin: int, cout: int) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(cin, cin, 3, stride=2, padding=1, groups=cin),
            batch_norm(cin),
            torch.nn.ReLU(),
            torch.nn.Conv2d(cin, cout, 1),
            batch_norm(cout),
            torch.nn.ReLU(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["cin"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return [SIZE["cin"], SIZE["cout"]]
