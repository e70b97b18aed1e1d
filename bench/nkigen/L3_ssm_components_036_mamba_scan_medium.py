"""mamba_scan_medium: gated block with a short causal convolution.

Repaired: weights are inputs that are drawn anew, and norms have affine parameters that are not the
identity.
Noted: it is named after a selective scan, and has no recurrence over time.
"""

import torch

SIZES = {
    "reduced": {"batch": 1, "steps": 37, "width": 48, "inner": 64, "states": 4},
    "full": {"batch": 2, "steps": 512, "width": 1024, "inner": 2048, "states": 16},
}
SIZE = SIZES["reduced"]


def layer_norm(width: int) -> torch.nn.LayerNorm:
    # Affine parameters of a network that was trained, so that neither can be dropped.
    norm = torch.nn.LayerNorm(width)
    torch.nn.init.normal_(norm.weight, 1, 0.3)
    torch.nn.init.normal_(norm.bias, 0, 0.3)
    return norm


class Model(torch.nn.Module):
    def __init__(self, width: int, inner: int, states: int) -> None:
        super().__init__()
        self.norm = layer_norm(width)
        self.enter = torch.nn.Linear(width, 2 * inner, bias=False)
        self.conv = torch.nn.Conv1d(inner, inner, 4, padding=3, groups=inner)
        self.step = torch.nn.Linear(inner, inner)
        self.log_decay = torch.nn.Parameter(torch.randn(inner, states))
        self.skip = torch.nn.Parameter(torch.randn(inner))
        self.leave = torch.nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        u, z = self.enter(self.norm(x)).chunk(2, dim=-1)
        seen = self.conv(u.transpose(1, 2))[:, :, : x.shape[1]]
        u = torch.nn.functional.silu(seen).transpose(1, 2)
        dt = torch.nn.functional.softplus(self.step(u)).unsqueeze(-1)
        decay = torch.exp(dt * -torch.exp(self.log_decay)).sum(-1)
        y = u * self.skip + u * decay
        return x + self.leave(y * torch.nn.functional.silu(z))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["steps"], SIZE["width"])]


def get_init_inputs() -> list[int]:
    return [SIZE["width"], SIZE["inner"], SIZE["states"]]
