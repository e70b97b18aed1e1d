"""Small programs, one for each operator family, with inputs that reach tile edges.

Each makes a module and its inputs; what PyTorch computes is the oracle.
"""

# ruff: noqa: PLW0108, PLC3002 - a lambda makes what its case needs, when it is needed
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - PyTorch's own abbreviation


class Called(nn.Module):
    """A module of one expression."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class First(nn.Module):
    """The first output of a module."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *inputs):
        return self.inner(*inputs)[0]


class Remembers(nn.Module):
    """A hidden state that every call changes, and a nested answer."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(12, 5)
        self.hidden = torch.linspace(0, 1, 10).reshape(2, 5)
        self.register_buffer("calls", torch.zeros(3))

    def forward(self, x):
        self.hidden = torch.tanh(self.inner(torch.cat([x, self.hidden], 1)))
        self.calls += 1
        return self.hidden * 2, (self.hidden, [x + 1])


def raised(x):
    x += 1
    return x * 2


def replaced(x):
    x = x.clone()
    x[:, 0] = 3
    x[:, 1:3] = x[:, 3:5] * 2
    x[:, 1::3] = x[:, :3] + 1
    return x


def collected(x):
    out = torch.empty(2, 3)
    for row in range(2):
        out[row] = x[row] * 2
    return out


class Plain(nn.Module):
    """A tensor kept as a plain attribute, and one that the state leaves out."""

    def __init__(self):
        super().__init__()
        self.shift = torch.linspace(0, 1, 7)
        self.register_buffer("scale", torch.linspace(1, 2, 7), persistent=False)

    def forward(self, x):
        return x * self.scale + self.shift


class Shared(nn.Module):
    """A parameter without dimensions."""

    def __init__(self):
        super().__init__()
        self.alpha = nn.Parameter(torch.zeros(()))

    def forward(self, x, y):
        return self.alpha * x + (1 - self.alpha) * y


def values(*shape):
    return torch.randn(*shape)


def places(below, *shape):
    return torch.randint(0, below, shape)


def module(name):
    """The case's module, every parameter away from its start value."""
    made = CASES[name][0]()
    made = made if isinstance(made, nn.Module) else Called(made)
    for parameter in made.parameters():
        nn.init.normal_(parameter, 0.3, 0.4)
    return made


def inputs(name):
    return [make() for make in CASES[name][1:]]


CASES = {
    "slice": (lambda: lambda x: x[:, 2:7] * 2, lambda: values(5, 9)),
    "slice_step": (lambda: lambda x: x[:, ::2] + 1, lambda: values(5, 9)),
    "slice_out": (lambda: lambda x: x[1:3], lambda: values(5, 9)),
    "select": (lambda: lambda x: x[:, 1] * x[:, 0], lambda: values(5, 2, 9)),
    "chunk_glu": (lambda: lambda x: F.glu(x, -1), lambda: values(6, 10)),
    "split3": (
        lambda: lambda x: (lambda a, b, c: a @ b.transpose(0, 1) @ c)(*x.split(8, -1)),
        lambda: values(12, 24),
    ),
    "cat0": (lambda: lambda x, y: torch.cat([x, y], 0), lambda: values(5, 9), lambda: values(3, 9)),
    "cat1": (
        lambda: lambda x, y: torch.cat([x, y * 2], 1),
        lambda: values(5, 9),
        lambda: values(5, 300),
    ),
    "stack": (
        lambda: lambda x, y: torch.stack([x, y], 1),
        lambda: values(5, 9),
        lambda: values(5, 9),
    ),
    "pad": (lambda: lambda x: F.pad(x, (1, 2, 3, 0), value=2.0), lambda: values(2, 5, 9)),
    "padneg": (lambda: lambda x: F.pad(x, (-1, 2)), lambda: values(5, 9)),
    "roll": (lambda: lambda x: torch.roll(x, 2, 1), lambda: values(5, 9)),
    "flip": (lambda: lambda x: torch.flip(x, [1]) + 1, lambda: values(5, 9)),
    "repeat": (lambda: lambda x: x.repeat(2, 3), lambda: values(4, 5)),
    "arange": (lambda: lambda x: x + torch.arange(9), lambda: values(5, 9)),
    "tril": (lambda: lambda x: torch.tril(x), lambda: values(9, 9)),
    "triu": (lambda: lambda x: torch.triu(x, 1), lambda: values(9, 9)),
    "causal": (
        lambda: (
            lambda x: torch.softmax(
                x.masked_fill(torch.triu(torch.ones(9, 9), 1).bool(), float("-inf")), -1
            )
        ),
        lambda: values(2, 9, 9),
    ),
    "full": (lambda: lambda x: torch.full((3, 4), 2.5) + x, lambda: values(3, 4)),
    "zeros_out": (lambda: lambda x: (x * 0, torch.ones(3, 4)), lambda: values(3, 4)),
    "sum02": (lambda: lambda x: x.sum((0, 2)), lambda: values(4, 5, 6)),
    "sum0": (lambda: lambda x: x.sum(0), lambda: values(4, 5, 6)),
    "mean_all": (lambda: lambda x: x.mean(), lambda: values(4, 5, 6)),
    "mean1": (lambda: lambda x: x.mean(1, keepdim=True), lambda: values(4, 5, 6)),
    "max_dim": (lambda: lambda x: x.max(1)[0], lambda: values(4, 5, 6)),
    "argmax": (lambda: lambda x: x.argmax(1), lambda: values(4, 5)),
    "argmin_all": (lambda: lambda x: x.argmin(), lambda: values(4, 5)),
    "max_idx": (lambda: lambda x: x.max(1), lambda: values(4, 5, 6)),
    "topk": (lambda: lambda x: x.topk(3, -1), lambda: values(6, 10)),
    "cumsum": (lambda: lambda x: x.cumsum(1), lambda: values(4, 50)),
    "cumsum0": (lambda: lambda x: x.cumsum(0), lambda: values(40, 5)),
    "cumsum_long": (lambda: lambda x: x.cumsum(1), lambda: values(3, 5000)),
    "cumprod": (lambda: lambda x: x.cumprod(1), lambda: values(4, 20)),
    "logsumexp": (lambda: lambda x: x.logsumexp(1), lambda: values(4, 20)),
    "prod": (lambda: lambda x: x.prod(1), lambda: values(4, 5)),
    "any": (lambda: lambda x: (x > 0).any(1), lambda: values(4, 5)),
    "var": (lambda: lambda x: x.var(1), lambda: values(4, 5, 6)),
    "std": (lambda: lambda x: x.std((1, 2)), lambda: values(4, 5, 6)),
    "norm": (lambda: lambda x: x / x.norm(dim=1, keepdim=True), lambda: values(4, 5)),
    "norm_all": (lambda: lambda x: x / x.norm(), lambda: values(4, 5)),
    "bn_eval": (lambda: nn.BatchNorm2d(5).eval(), lambda: values(2, 5, 4, 4)),
    "in": (lambda: nn.InstanceNorm2d(5), lambda: values(2, 5, 4, 4)),
    "gn": (lambda: nn.GroupNorm(2, 6), lambda: values(2, 6, 4, 4)),
    "ln": (lambda: nn.LayerNorm((4, 4)), lambda: values(2, 5, 4, 4)),
    "rms": (lambda: nn.RMSNorm(16), lambda: values(2, 5, 16)),
    "conv1d": (lambda: nn.Conv1d(3, 8, 3, padding=1), lambda: values(2, 3, 20)),
    "conv1d_s": (lambda: nn.Conv1d(130, 140, 3, stride=2), lambda: values(2, 130, 41)),
    "conv2d": (lambda: nn.Conv2d(3, 8, 3, padding=1), lambda: values(2, 3, 12, 11)),
    "conv2d_stride": (
        lambda: nn.Conv2d(4, 8, 3, stride=2, padding=1),
        lambda: values(2, 4, 13, 11),
    ),
    "conv2d_1": (lambda: nn.Conv2d(140, 150, 1), lambda: values(2, 140, 6, 6)),
    "conv2d_big": (lambda: nn.Conv2d(8, 8, 3, padding=1), lambda: values(1, 8, 40, 40)),
    "conv2d_wide": (lambda: nn.Conv2d(4, 4, 3, padding=1), lambda: values(1, 4, 3, 700)),
    "conv2d_g": (lambda: nn.Conv2d(8, 12, 3, groups=2, padding=1), lambda: values(2, 8, 7, 7)),
    "conv2d_dw": (lambda: nn.Conv2d(8, 8, 3, groups=8, padding=1), lambda: values(2, 8, 7, 7)),
    "conv2d_dil": (lambda: nn.Conv2d(4, 8, 3, dilation=2), lambda: values(2, 4, 12, 12)),
    "conv2d_asym": (
        lambda: nn.Conv2d(4, 8, (3, 5), padding=(0, 2), stride=(1, 2)),
        lambda: values(2, 4, 12, 12),
    ),
    "conv3d": (lambda: nn.Conv3d(3, 5, 3, padding=1), lambda: values(1, 3, 5, 6, 7)),
    "conv3d_s": (lambda: nn.Conv3d(3, 5, (3, 2, 2), stride=2), lambda: values(2, 3, 9, 8, 8)),
    "convT1": (lambda: nn.ConvTranspose1d(4, 5, 3, stride=2, padding=1), lambda: values(2, 4, 9)),
    "convT2": (
        lambda: nn.ConvTranspose2d(4, 5, 3, stride=2, padding=1, output_padding=1),
        lambda: values(2, 4, 6, 6),
    ),
    "convT2_d": (lambda: nn.ConvTranspose2d(4, 5, 3, dilation=2), lambda: values(2, 4, 6, 6)),
    "convT2_p": (lambda: nn.ConvTranspose2d(4, 5, 3, padding=3), lambda: values(2, 4, 9, 9)),
    "convT2_g": (lambda: nn.ConvTranspose2d(4, 6, 3, groups=2), lambda: values(2, 4, 6, 6)),
    "convT3": (lambda: nn.ConvTranspose3d(3, 4, 3, stride=2), lambda: values(1, 3, 3, 4, 4)),
    "conv_relu_bn": (
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8).eval(), nn.ReLU()),
        lambda: values(2, 3, 9, 9),
    ),
    "conv_bias_sub": (
        lambda: lambda x, w, b: F.conv2d(x, w, b).mul(2).clamp(0, 1) / 3,
        lambda: values(2, 3, 9, 9),
        lambda: values(4, 3, 3, 3),
        lambda: values(4),
    ),
    "maxpool": (lambda: nn.MaxPool2d(2), lambda: values(2, 3, 9, 8)),
    "maxpool_p": (lambda: nn.MaxPool2d(3, 2, 1), lambda: values(2, 3, 9, 8)),
    "maxpool1d": (lambda: nn.MaxPool1d(3, 2, 1), lambda: values(2, 3, 20)),
    "maxpool3d": (lambda: nn.MaxPool3d(2, 2), lambda: values(2, 3, 4, 6, 6)),
    "avgpool": (lambda: nn.AvgPool2d(3, 2, 1), lambda: values(2, 3, 9, 8)),
    "avgpool_exc": (
        lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False),
        lambda: values(2, 3, 9, 8),
    ),
    "avgpool1d": (lambda: nn.AvgPool1d(4), lambda: values(2, 3, 20)),
    "avgpool3d": (lambda: nn.AvgPool3d(2), lambda: values(2, 3, 4, 6, 6)),
    "adaptive1": (lambda: nn.AdaptiveAvgPool2d(1), lambda: values(2, 3, 9, 8)),
    "adaptive": (lambda: nn.AdaptiveAvgPool2d((3, 5)), lambda: values(2, 3, 9, 8)),
    "adaptivemax": (lambda: nn.AdaptiveMaxPool2d((3, 4)), lambda: values(2, 3, 9, 8)),
    "up": (lambda: nn.Upsample(scale_factor=2), lambda: values(2, 3, 4, 5)),
    "unfold": (lambda: lambda x: x.unfold(1, 3, 2) * 1.5, lambda: values(4, 9)),
    "gather": (lambda: lambda x, i: x.gather(1, i), lambda: values(5, 9), lambda: places(9, 5, 4)),
    "index_select": (
        lambda: lambda x, i: x.index_select(1, i),
        lambda: values(5, 9, 3),
        lambda: places(9, 6),
    ),
    "index": (lambda: lambda x, i: x[i], lambda: values(5, 9), lambda: places(5, 6)),
    "reflect": (lambda: nn.ReflectionPad2d(2), lambda: values(2, 3, 6, 7)),
    "replicate": (lambda: nn.ReplicationPad2d((1, 2, 0, 1)), lambda: values(2, 3, 6, 7)),
    "sort": (lambda: lambda x: x.sort(1), lambda: values(5, 21, 3)),
    "argsort": (lambda: lambda x: x.argsort(-1, descending=True), lambda: values(5, 40)),
    "kthvalue": (lambda: lambda x: x.kthvalue(3, 1), lambda: values(5, 9)),
    "median": (lambda: lambda x: x.median(0), lambda: values(20, 4)),
    "median_all": (lambda: lambda x: x.median(), lambda: values(5, 9)),
    "cummax": (lambda: lambda x: x.round().cummax(1), lambda: values(5, 30)),
    "cummin": (lambda: lambda x: x.cummin(0), lambda: values(30, 5)),
    "replaced": (lambda: replaced, lambda: values(5, 9)),
    "collected": (lambda: collected, lambda: values(2, 3)),
    "written": (
        lambda: lambda x: (x - torch.tensor([0.5, 0.25, 2.0])) / torch.tensor([[1], [1], [4]]),
        lambda: values(3, 3),
    ),
    "circular": (
        lambda: nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular"),
        lambda: values(1, 3, 6, 7),
    ),
    "cosine_loss": (
        lambda: nn.CosineEmbeddingLoss(),
        lambda: values(4, 6),
        lambda: values(4, 6),
        lambda: values(4).sign(),
    ),
    "cdist": (lambda: torch.cdist, lambda: values(7, 5), lambda: values(9, 5)),
    "cdist1": (
        lambda: lambda x, y: torch.cdist(x, y, p=1),
        lambda: values(2, 7, 5),
        lambda: values(2, 9, 5),
    ),
    "nearest_size": (lambda: lambda x: F.interpolate(x, size=(13, 11)), lambda: values(1, 2, 8, 9)),
    "nearest_factor": (
        lambda: lambda x: F.interpolate(x, scale_factor=1.4),
        lambda: values(1, 2, 8, 9),
    ),
    "avgpool_ceil": (lambda: nn.AvgPool2d(3, 2, 1, ceil_mode=True), lambda: values(2, 3, 9, 8)),
    "avgpool_ceil1": (lambda: nn.AvgPool1d(3, 2, 0, ceil_mode=True), lambda: values(2, 3, 8)),
    "rrelu": (lambda: nn.RReLU().eval(), lambda: values(4, 9)),
    "in_place": (lambda: raised, lambda: values(5, 7)),
    "remembers": (lambda: Remembers(), lambda: values(2, 7)),
    "plain": (lambda: Plain(), lambda: values(5, 7)),
    "embedding": (lambda: nn.Embedding(50, 16), lambda: places(50, 4, 7)),
    "onehot": (lambda: lambda i: F.one_hot(i, 10).float(), lambda: places(10, 6)),
    "softplus": (lambda: nn.Softplus(), lambda: values(4, 9) * 10),
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
    "mse": (lambda: nn.MSELoss(), lambda: values(4, 9), lambda: values(4, 9)),
    "l1": (lambda: nn.L1Loss(), lambda: values(4, 9), lambda: values(4, 9)),
    "smoothl1": (lambda: nn.SmoothL1Loss(), lambda: values(4, 9), lambda: values(4, 9)),
    "huber": (lambda: nn.HuberLoss(), lambda: values(4, 9), lambda: values(4, 9)),
    "ce": (lambda: nn.CrossEntropyLoss(), lambda: values(6, 10), lambda: places(10, 6)),
    "kl": (
        lambda: lambda x, y: F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"),
        lambda: values(6, 10),
        lambda: values(6, 10),
    ),
    "bce": (lambda: nn.BCEWithLogitsLoss(), lambda: values(6, 10), lambda: torch.rand(6, 10)),
    "bce2": (
        lambda: nn.BCELoss(),
        lambda: torch.rand(6, 10) * 0.9 + 0.05,
        lambda: torch.rand(6, 10),
    ),
    "triplet": (
        lambda: nn.TripletMarginLoss(),
        lambda: values(6, 10),
        lambda: values(6, 10),
        lambda: values(6, 10),
    ),
    "cosine": (
        lambda: lambda x, y: F.cosine_similarity(x, y, dim=1),
        lambda: values(6, 10),
        lambda: values(6, 10),
    ),
    "hinge": (
        lambda: lambda x, y: torch.clamp(1 - x * y, min=0).mean(),
        lambda: values(6, 10),
        lambda: values(6, 10).sign(),
    ),
    "nll": (
        lambda: lambda x, i: F.nll_loss(x.log_softmax(-1), i),
        lambda: values(6, 10),
        lambda: places(10, 6),
    ),
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
    "share": (Shared, lambda: values(130, 7), lambda: values(130, 7)),
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
    "pixel_shuffle": (lambda: nn.PixelShuffle(2), lambda: values(2, 8, 3, 3)),
    "chshuffle": (
        lambda: lambda x: x.view(2, 2, 4, 3, 3).transpose(1, 2).reshape(2, 8, 3, 3) * 1,
        lambda: values(2, 8, 3, 3),
    ),
    "bilinear": (
        lambda: nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
        lambda: values(1, 2, 4, 4),
    ),
    "scatter": (
        lambda: lambda x, i, s: x.scatter(1, i, s),
        lambda: values(4, 9),
        lambda: torch.stack([torch.randperm(9)[:3] for _ in range(4)]),
        lambda: values(4, 3),
    ),
    "dropout": (lambda: nn.Dropout(0.5).eval(), lambda: values(4, 9)),
    "meanvarnorm": (
        lambda: (
            lambda x: (
                (x - x.mean((2, 3), keepdim=True))
                / (x.var((2, 3), keepdim=True, unbiased=False) + 1e-05).sqrt()
            )
        ),
        lambda: values(2, 3, 4, 4),
    ),
    "frobenius": (lambda: lambda x: x / torch.norm(x, p="fro"), lambda: values(2, 3, 4, 4)),
    "l1norm": (lambda: lambda x: x / x.abs().sum(1, keepdim=True), lambda: values(4, 9)),
    "cumsum_rev": (lambda: lambda x: x.flip(1).cumsum(1).flip(1), lambda: values(4, 9)),
    "cumsum_ex": (
        lambda: lambda x: torch.cat([torch.zeros_like(x[:, :1]), x], 1)[:, :-1].cumsum(1),
        lambda: values(4, 9),
    ),
    "masked_cumsum": (
        lambda: lambda x, m: (x * m).cumsum(1),
        lambda: values(4, 9),
        lambda: values(4, 9) > 0,
    ),
}
