"""Views, copies, indexing and what puts tensors together."""

# ruff: noqa: PLW0108, PLC3002 - a lambda makes what its case needs, when it is needed
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - PyTorch's own abbreviation

from tests.unit.lowering.modules import (
    Named,
    Plain,
    Remembers,
    collected,
    masked,
    places,
    raised,
    replaced,
    values,
)

CASES = {
    "strided": (lambda: lambda x: x.as_strided((3, 3), (1, 2), 1) * 2, lambda: values(3, 4)),
    "layout": (
        lambda: lambda x: F.adaptive_avg_pool1d(x.transpose(1, 2), 1).flatten(1),
        lambda: values(2, 5, 7),
    ),
    "named_alike": (Named, lambda: values(3, 5)),
    "turned_product": (
        lambda: lambda b, d: (d[..., -1:] - d).exp().permute(0, 2, 3, 1)[..., None] * b,
        lambda: values(2, 2, 8, 2, 4),
        lambda: values(2, 2, 2, 8),
    ),
    "numbers": (
        lambda: (
            lambda x: (
                x * (1 - torch.tensor(0.5)) + torch.tensor(2.0).expand(4) / torch.tensor(3).float()
            )
        ),
        lambda: values(3, 4),
    ),
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
    "up": (lambda: nn.Upsample(scale_factor=2), lambda: values(2, 3, 4, 5)),
    "unfold": (lambda: lambda x: x.unfold(1, 3, 2) * 1.5, lambda: values(4, 9)),
    "gather_last": (
        lambda: lambda x, i: x.gather(-1, i),
        lambda: values(3, 50, 9),
        lambda: places(9, 3, 50, 2100),
    ),
    "gather_even": (
        lambda: lambda x, i: x.gather(1, i),
        lambda: values(128, 9),
        lambda: places(9, 128, 5),
    ),
    "gather": (lambda: lambda x, i: x.gather(1, i), lambda: values(5, 9), lambda: places(9, 5, 4)),
    "index_select": (
        lambda: lambda x, i: x.index_select(1, i),
        lambda: values(5, 9, 3),
        lambda: places(9, 6),
    ),
    "index": (lambda: lambda x, i: x[i], lambda: values(5, 9), lambda: places(5, 6)),
    "reflect": (lambda: nn.ReflectionPad2d(2), lambda: values(2, 3, 6, 7)),
    "replicate": (lambda: nn.ReplicationPad2d((1, 2, 0, 1)), lambda: values(2, 3, 6, 7)),
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
    "nearest_size": (lambda: lambda x: F.interpolate(x, size=(13, 11)), lambda: values(1, 2, 8, 9)),
    "nearest_factor": (
        lambda: lambda x: F.interpolate(x, scale_factor=1.4),
        lambda: values(1, 2, 8, 9),
    ),
    "in_place": (lambda: raised, lambda: values(5, 7)),
    "remembers": (lambda: Remembers(), lambda: values(2, 7)),
    "plain": (lambda: Plain(), lambda: values(5, 7)),
    "embedding": (lambda: nn.Embedding(50, 16), lambda: places(50, 4, 7)),
    "onehot": (lambda: lambda i: F.one_hot(i, 10).float(), lambda: places(10, 6)),
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
    "index_two": (
        lambda: lambda x, i, j: x[i[:, None], j, :] + x[:, i, j[0, :4]][:4, None, :1],
        lambda: values(6, 6, 6),
        lambda: places(6, 4),
        lambda: places(6, 4, 6),
    ),
    "index_apart": (
        lambda: lambda x, i, j: x[:, i, :, j],
        lambda: values(2, 5, 3, 4),
        lambda: places(5, 7) - 3,
        lambda: places(4, 7),
    ),
    "pairs": (
        lambda: lambda x: x[:, *torch.tril_indices(6, 6, offset=-1)],
        lambda: values(3, 6, 6),
    ),
    "masked": (lambda: masked, lambda: values(5, 9), lambda: values(5, 9) > 0, lambda: values(9)),
    "put_rows": (
        lambda: lambda x, i, y: x.index_put((i,), y),
        lambda: values(9, 5),
        lambda: torch.tensor([7, -1, 2, 7]),
        lambda: values(4, 5),
    ),
    "added_rows": (
        lambda: lambda x, i, y: x.index_add(1, i, y).index_fill(0, i, 2.5),
        lambda: values(8, 9, 3),
        lambda: places(8, 20),
        lambda: values(8, 20, 3),
    ),
    "added_pairs": (
        lambda: lambda x, i, j, y: x.index_put((i, j), y, accumulate=True),
        lambda: values(4, 5, 3),
        lambda: places(4, 30),
        lambda: places(5, 30),
        lambda: values(30, 3),
    ),
    "scatter_add": (
        lambda: lambda x, i, s: x.scatter_add(0, i, s) + x.scatter_reduce(0, i, s, "amax"),
        lambda: values(9, 4),
        lambda: places(9, 30, 4),
        lambda: values(30, 4),
    ),
    "scatter_last": (
        lambda: lambda x, i, s: x.scatter(1, i, s) + x.scatter(1, i, 3.0),
        lambda: values(4, 9),
        lambda: places(9, 4, 20),
        lambda: values(4, 20),
    ),
    "fold": (
        lambda: lambda x: F.fold(F.unfold(x, 3, stride=2, padding=1), (6, 8), 3, 1, 1, 2),
        lambda: values(2, 3, 6, 8),
    ),
    "grid": (
        lambda: lambda x, g: F.grid_sample(x, g, align_corners=False),
        lambda: values(2, 3, 5, 6),
        lambda: values(2, 4, 3, 2),
    ),
    "dropout": (lambda: nn.Dropout(0.5).eval(), lambda: values(4, 9)),
}
