"""Reductions, scans, orders and losses."""

# ruff: noqa: PLW0108 - a lambda makes what its case needs, when it is needed
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - PyTorch's own abbreviation

from tests.unit.lowering.modules import places, values

CASES = {
    "sum02": (lambda: lambda x: x.sum((0, 2)), lambda: values(4, 5, 6)),
    "sum0": (lambda: lambda x: x.sum(0), lambda: values(4, 5, 6)),
    "mean_all": (lambda: lambda x: x.mean(), lambda: values(4, 5, 6)),
    "mean1": (lambda: lambda x: x.mean(1, keepdim=True), lambda: values(4, 5, 6)),
    "max_dim": (lambda: lambda x: x.max(1)[0], lambda: values(4, 5, 6)),
    "argmax": (lambda: lambda x: x.argmax(1), lambda: values(4, 5)),
    "argmin_all": (lambda: lambda x: x.argmin(), lambda: values(4, 5)),
    "max_idx": (lambda: lambda x: x.max(1), lambda: values(4, 5, 6)),
    "topk": (lambda: lambda x: x.topk(3, -1), lambda: values(6, 10)),
    "topk_many": (lambda: lambda x: x.topk(20, 1, largest=False), lambda: values(4, 33, 2)),
    "norms": (
        lambda: lambda x: (x.norm(3, 1), x.norm(0.5, (0, 2)), x.round().norm(0, 1)),
        lambda: values(4, 5, 6),
    ),
    "dist": (lambda: lambda x, y: torch.dist(x, y, 1), lambda: values(4, 5), lambda: values(4, 5)),
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
    "sort": (lambda: lambda x: x.sort(1), lambda: values(5, 21, 3)),
    "argsort": (lambda: lambda x: x.argsort(-1, descending=True), lambda: values(5, 40)),
    "kthvalue": (lambda: lambda x: x.kthvalue(3, 1), lambda: values(5, 9)),
    "median": (lambda: lambda x: x.median(0), lambda: values(20, 4)),
    "median_all": (lambda: lambda x: x.median(), lambda: values(5, 9)),
    "cummax": (lambda: lambda x: x.round().cummax(1), lambda: values(5, 30)),
    "cummin": (lambda: lambda x: x.cummin(0), lambda: values(30, 5)),
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
    "meanvarnorm": (
        lambda: (
            lambda x: (
                (x - x.mean((2, 3), keepdim=True))
                / (x.var((2, 3), keepdim=True, unbiased=False) + 1e-05).sqrt()
            )
        ),
        lambda: values(2, 3, 4, 4),
    ),
}
