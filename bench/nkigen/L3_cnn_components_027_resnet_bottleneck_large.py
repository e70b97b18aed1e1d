"""resnet_bottleneck_large: three convolutions with batch norm beside the input.

Repaired: weights are inputs that are drawn anew; running statistics and affine parameters are
not those of an untrained network.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "cin": 32, "middle": 16, "cout": 32, "side": 10},
    "full": {"batch": 8, "cin": 1024, "middle": 256, "cout": 1024, "side": 14},
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
    def __init__(self, cin: int, middle: int, cout: int) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(cin, middle, 1, bias=False),
            batch_norm(middle),
            torch.nn.ReLU(),
            torch.nn.Conv2d(middle, middle, 3, padding=1, bias=False),
            batch_norm(middle),
            torch.nn.ReLU(),
            torch.nn.Conv2d(middle, cout, 1, bias=False),
            batch_norm(cout),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.layers(x) + x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["cin"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return [SIZE["cin"], SIZE["middle"], SIZE["cout"]]
