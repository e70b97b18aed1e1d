"""Element-wise functions, products, attention and recurrent layers."""

# ruff: noqa: PLW0108 - a lambda makes what its case needs, when it is needed
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - PyTorch's own abbreviation

from tests.unit.lowering.modules import First, Shared, values

CASES = {
    "atan": (lambda: lambda x: torch.atan(x * 3) + torch.erfc(x), lambda: values(5, 9)),
    "asin": (
        lambda: lambda x: torch.asin(x) - torch.acos(-x),
        lambda: torch.linspace(-1, 1, 21).reshape(3, 7),
    ),
    "hyper": (
        lambda: lambda x: torch.asinh(x) + torch.atanh(x.clamp(-0.9, 0.9)) + torch.acosh(1 + x * x),
        lambda: values(4, 9) * 10,
    ),
    "angles": (
        lambda: lambda y, x: torch.atan2(y, x) + torch.hypot(x, y) + torch.copysign(x, y),
        lambda: torch.tensor([0.0, 0.0, 1.0, -1.0, 2.0, -3.0]),
        lambda: torch.tensor([0.0, -2.0, 0.0, 0.0, -5.0, 0.1]),
    ),
    "either": (
        lambda: lambda x, y: torch.fmax(x, y) - torch.fmin(x, y) + torch.logical_xor(x > 0, y > 0),
        lambda: values(4, 9),
        lambda: values(4, 9),
    ),
    "round_to": (lambda: lambda x: torch.round(x, decimals=2), lambda: values(4, 9)),
    "rrelu": (lambda: nn.RReLU().eval(), lambda: values(4, 9)),
    "softplus": (lambda: nn.Softplus(), lambda: values(4, 9) * 10),
    "softplus_low": (
        lambda: nn.Softplus(beta=2, threshold=3),
        lambda: values(4, 9) * 10,
    ),
    "mish": (lambda: nn.Mish(), lambda: values(4, 9)),
    "hardswish": (lambda: nn.Hardswish(), lambda: values(4, 9)),
    "hardsig": (lambda: nn.Hardsigmoid(), lambda: values(4, 9) * 4),
    "hardtanh": (lambda: nn.Hardtanh(), lambda: values(4, 9) * 4),
    "logsig": (lambda: nn.LogSigmoid(), lambda: values(4, 9)),
    "selu": (lambda: nn.SELU(), lambda: values(4, 9)),
    "celu": (lambda: nn.CELU(), lambda: values(4, 9)),
    "prelu": (lambda: nn.PReLU(3), lambda: values(2, 3, 4)),
    "softsign": (lambda: nn.Softsign(), lambda: values(4, 9)),
    "softshrink": (lambda: nn.Softshrink(), lambda: values(4, 9)),
    "tanhshrink": (lambda: nn.Tanhshrink(), lambda: values(4, 9)),
    "threshold": (lambda: nn.Threshold(0.1, 5.0), lambda: values(4, 9)),
    "softmin": (lambda: nn.Softmin(1), lambda: values(4, 9)),
    "softmax0": (lambda: lambda x: x.softmax(0), lambda: values(40, 9)),
    "softmax1of3": (lambda: lambda x: x.softmax(1), lambda: values(4, 9, 7)),
    "remainder": (lambda: lambda x: x % 3, lambda: values(4, 9) * 9),
    "round": (lambda: lambda x: x.round(), lambda: values(4, 9) * 9),
    "floor_div": (lambda: lambda x: x // 2, lambda: values(4, 9) * 9),
    "sinh": (lambda: lambda x: torch.sinh(x) + torch.tan(x) + torch.exp2(x), lambda: values(4, 9)),
    "log2": (lambda: lambda x: torch.log2(x.abs() + 1), lambda: values(4, 9)),
    "sdpa": (
        lambda: lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
        lambda: values(2, 3, 20, 16),
        lambda: values(2, 3, 24, 16),
        lambda: values(2, 3, 24, 16),
    ),
    "sdpa_causal": (
        lambda: lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        lambda: values(2, 3, 20, 16),
        lambda: values(2, 3, 20, 16),
        lambda: values(2, 3, 20, 16),
    ),
    "gqa": (
        lambda: lambda q, k: q.view(2, 2, 2, 9, 8) @ k[:, :, None].transpose(-1, -2),
        lambda: values(2, 4, 9, 8),
        lambda: values(2, 2, 9, 8),
    ),
    "mha": (
        lambda: nn.MultiheadAttention(32, 4, batch_first=True),
        lambda: values(2, 10, 32),
        lambda: values(2, 10, 32),
        lambda: values(2, 10, 32),
    ),
    "enc": (
        lambda: nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).eval(),
        lambda: values(2, 10, 32),
    ),
    "lstm": (lambda: First(nn.LSTM(8, 16, batch_first=True)), lambda: values(2, 5, 8)),
    "gru": (lambda: First(nn.GRU(8, 16, batch_first=True)), lambda: values(2, 5, 8)),
    "rnn": (lambda: First(nn.RNN(8, 16, batch_first=True)), lambda: values(2, 5, 8)),
    "lstm_two": (
        lambda: nn.LSTM(8, 12, 2, batch_first=True, bidirectional=True),
        lambda: values(3, 7, 8),
    ),
    "lstm_crowded": (lambda: First(nn.LSTM(3, 4)), lambda: values(2, 130, 3)),
    "lstm_wide": (lambda: nn.LSTM(5, 150, bias=False), lambda: values(4, 2, 5)),
    "lstm_given": (
        lambda: (
            lambda x, h, c, w, u: torch.lstm(x, [h, c], [w, u], False, 1, 0.0, False, False, False)
        ),
        lambda: values(4, 2, 5),
        lambda: values(1, 2, 6),
        lambda: values(1, 2, 6),
        lambda: values(24, 5),
        lambda: values(24, 6),
    ),
    "lstm_projected": (lambda: nn.LSTM(5, 6, proj_size=3), lambda: values(4, 2, 5)),
    "gru_two": (lambda: nn.GRU(4, 6, bidirectional=True), lambda: values(300, 3, 4)),
    "rnn_relu": (lambda: nn.RNN(8, 12, nonlinearity="relu"), lambda: values(7, 8)),
    "share": (Shared, lambda: values(130, 7), lambda: values(130, 7)),
    "mlp": (
        lambda: nn.Sequential(nn.Linear(20, 150), nn.GELU(), nn.Linear(150, 33)),
        lambda: values(2, 70, 20),
    ),
    "gated_mlp": (
        lambda: lambda x, up, gate, down: (F.silu(x @ gate) * (x @ up) / 3) @ down,
        lambda: values(130, 20),
        lambda: values(20, 40),
        lambda: values(20, 40),
        lambda: values(40, 30),
    ),
    "mlp_seen": (
        lambda: lambda x, w, v: (x @ w, (x @ w).relu() @ v, (x @ w)[:, :1] * (x @ w)),
        lambda: values(130, 20),
        lambda: values(20, 40),
        lambda: values(40, 30),
    ),
    "mlp_column": (
        lambda: lambda x, w, v: ((x @ w)[:, :1] * (x @ w)) @ v,
        lambda: values(130, 20),
        lambda: values(20, 40),
        lambda: values(40, 30),
    ),
    "linear_softmax": (
        lambda: nn.Sequential(nn.Linear(20, 600), nn.Softmax(-1)),
        lambda: values(131, 20),
    ),
    "linear_norm": (
        lambda: lambda x, w, r: F.layer_norm(x @ w + r, (24,)) * r,
        lambda: values(130, 20),
        lambda: values(20, 24),
        lambda: values(130, 24),
    ),
    "bmm_softmax": (
        lambda: lambda x, y: torch.softmax(x @ y * 0.3, -1),
        lambda: values(3, 40, 20),
        lambda: values(3, 20, 30),
    ),
    "bilinear_form": (
        lambda: nn.Bilinear(20, 33, 10),
        lambda: values(17, 20),
        lambda: values(17, 33),
    ),
    "bmm": (lambda: torch.bmm, lambda: values(3, 40, 20), lambda: values(3, 20, 30)),
    "matmul4": (lambda: torch.matmul, lambda: values(2, 3, 9, 8), lambda: values(2, 3, 8, 7)),
    "mv": (lambda: torch.mv, lambda: values(9, 8), lambda: values(8)),
    "outer": (lambda: torch.outer, lambda: values(9), lambda: values(8)),
    "einsum": (
        lambda: lambda x, y: torch.einsum("bijl,lk->bijk", x, y),
        lambda: values(2, 3, 4, 5),
        lambda: values(5, 6),
    ),
    "diag_mm": (lambda: lambda a, b: torch.diag(a) @ b, lambda: values(9), lambda: values(9, 8)),
    "tril_mm": (
        lambda: lambda a, b: torch.tril(torch.matmul(a, b)),
        lambda: values(9, 9),
        lambda: values(9, 9),
    ),
    "baddbmm": (
        lambda: torch.baddbmm,
        lambda: values(3, 4, 6),
        lambda: values(3, 4, 5),
        lambda: values(3, 5, 6),
    ),
}
