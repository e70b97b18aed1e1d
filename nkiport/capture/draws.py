"""How a tensor's values are drawn again, guessed from those it was declared with."""

from typing import Any

import torch

from nkiport.contracts.tensors import Draw

MOST_SAMPLED = 1_000_000


def drawn(tensor: Any, role: str) -> Draw:
    """The distribution to draw from; what is constant gets a spread, so that it matters."""
    if tensor.dtype == torch.bool:
        return Draw(kind="boolean")
    values = tensor.detach().reshape(-1)[:MOST_SAMPLED]
    if not tensor.is_floating_point():
        return Draw(kind="integers", low=int(values.min()), high=int(values.max()))
    values = values.double()
    values = values[values.isfinite()]
    if values.numel() == 0:
        return Draw()
    low, high = float(values.min()), float(values.max())
    if low == high:
        return _constant(low, role)
    if low >= 0:
        return Draw(kind="uniform", low=low, high=high)
    return Draw(mean=float(values.mean()), std=float(values.std()))


def _constant(value: float, role: str) -> Draw:
    """Zeros and ones are how biases, scales and running statistics start; they are redrawn."""
    if role == "input":
        return Draw(mean=value, std=1.0) if value <= 0 else Draw(kind="uniform", low=0, high=value)
    if value > 0:
        return Draw(kind="uniform", low=value / 2, high=value * 1.5)  # a variance stays positive
    return Draw(mean=value, std=max(abs(value), 0.5))
