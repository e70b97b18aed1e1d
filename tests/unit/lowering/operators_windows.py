"""Normalisations, convolutions and poolings."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - PyTorch's own abbreviation

from tests.unit.lowering.modules import values

CASES = {
    "maxpool_where": (
        lambda: nn.MaxPool2d(3, 2, 1, return_indices=True),
        lambda: values(2, 3, 9, 8),
    ),
    "maxpool1d_where": (
        lambda: nn.MaxPool1d(2, 1, dilation=2, return_indices=True),
        lambda: values(2, 3, 9),
    ),
    "maxpool3d_where": (
        lambda: nn.MaxPool3d(2, ceil_mode=True, return_indices=True),
        lambda: values(1, 2, 5, 4, 6),
    ),
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
    "conv2d_residual": (
        lambda: lambda x, w, y: torch.relu(F.conv2d(x, w, padding=1) * 0.5 + y),
        lambda: values(2, 5, 11, 13),
        lambda: values(40, 5, 3, 3),
        lambda: values(2, 40, 11, 13),
    ),
    "conv2d_places": (
        lambda: lambda x, w, y: F.conv2d(x, w, padding=1) + y,
        lambda: values(2, 5, 8, 9),
        lambda: values(7, 5, 3, 3),
        lambda: values(8, 9),
    ),
    "conv2d_sum": (
        lambda: lambda x, w: F.conv2d(x, w, padding=1).sum((2, 3)),
        lambda: values(2, 5, 8, 9),
        lambda: values(7, 5, 3, 3),
    ),
    "conv2d_g3": (
        lambda: nn.Conv2d(6, 9, (5, 3), groups=3, stride=(2, 1), padding=1),
        lambda: values(3, 6, 17, 9),
    ),
    "conv2d_dw_k5": (
        lambda: nn.Conv2d(48, 48, 5, groups=48, stride=2, padding=2),
        lambda: values(1, 48, 15, 14),
    ),
    "conv2d_dw_more": (lambda: nn.Conv2d(6, 12, 3, groups=6), lambda: values(2, 6, 9, 9)),
    "conv2d_dw_many": (
        lambda: nn.Conv2d(140, 140, 3, groups=140, padding=1),
        lambda: values(1, 140, 6, 6),
    ),
    "conv2d_patches": (lambda: nn.Conv2d(3, 150, 8, stride=8), lambda: values(2, 3, 32, 24)),
    "conv2d_stem": (
        lambda: nn.Sequential(nn.Conv2d(3, 33, 7, 2, 3), nn.BatchNorm2d(33), nn.ReLU()).eval(),
        lambda: values(1, 3, 29, 31),
    ),
    "conv1d_dw": (
        lambda: nn.Conv1d(40, 40, 4, groups=40, padding=3),
        lambda: values(2, 40, 20),
    ),
    "conv3d_dw": (
        lambda: nn.Conv3d(4, 4, 3, groups=4, padding=1),
        lambda: values(1, 4, 5, 6, 7),
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
    "adaptivemax_where": (
        lambda: nn.AdaptiveMaxPool2d((3, 4), return_indices=True),
        lambda: values(2, 3, 9, 6).round(),
    ),
    "maxunpool": (
        lambda: lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2),
        lambda: values(2, 3, 6, 8),
    ),
    "avgpool_ceil": (lambda: nn.AvgPool2d(3, 2, 1, ceil_mode=True), lambda: values(2, 3, 9, 8)),
    "avgpool_ceil1": (lambda: nn.AvgPool1d(3, 2, 0, ceil_mode=True), lambda: values(2, 3, 8)),
}
