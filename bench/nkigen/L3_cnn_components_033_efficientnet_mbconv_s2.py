"""efficientnet_mbconv_s2: a depthwise convolution whose channels are weighted by their means.

Repaired: weights are inputs that are drawn anew; running statistics and affine parameters are
not those of an untrained network.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "cin": 12, "wide": 24, "squeezed": 4, "cout": 10, "side": 11},
    "full": {"batch": 8, "cin": 16, "wide": 96, "squeezed": 4, "cout": 24, "side": 112},
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
    def __init__(self, cin: int, wide: int, squeezed: int, cout: int) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(cin, wide, 1, bias=False),
            batch_norm(wide),
            torch.nn.SiLU(),
            torch.nn.Conv2d(wide, wide, 3, stride=2, padding=1, groups=wide, bias=False),
            batch_norm(wide),
            torch.nn.SiLU(),
        )
        self.gate = torch.nn.Sequential(
            torch.nn.Conv2d(wide, squeezed, 1),
            torch.nn.SiLU(),
            torch.nn.Conv2d(squeezed, wide, 1),
            torch.nn.Sigmoid(),
        )
        self.project = torch.nn.Sequential(
            torch.nn.Conv2d(wide, cout, 1, bias=False), batch_norm(cout)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.body(x)
        return self.project(y * self.gate(y.mean((2, 3), keepdim=True)))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["cin"], SIZE["side"], SIZE["side"])]


def get_init_inputs() -> list[int]:
    return [SIZE["cin"], SIZE["wide"], SIZE["squeezed"], SIZE["cout"]]
