"""mlp_2layer_gelu_fp16: two linear layers with the erf form of GELU between, in float16.

Repaired: weights and bias are inputs that are drawn anew. They are float16 like x, so that the
reference runs.
"""

import torch

SIZES = {
    "reduced": {"batch": 2, "steps": 67, "width": 96, "hidden": 160},
    "full": {"batch": 8, "steps": 128, "width": 768, "hidden": 3072},
}
SIZE = SIZES["reduced"]


class Model(torch.nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.fc1 = torch.nn.Linear(width, hidden).half()
        self.fc2 = torch.nn.Linear(hidden, width).half()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc2(torch.nn.functional.gelu(self.fc1(x)))


def get_inputs() -> list[torch.Tensor]:
    return [(torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"]) * 2).half()]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["hidden"]]
