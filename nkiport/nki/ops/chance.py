"""Chance: dropout. The stream is the same in each run, so that a simulation repeats."""

from typing import Any

import numpy as np

from nkiport.nki import costs
from nkiport.nki.dtypes import Array
from nkiport.nki.op import Table
from nkiport.nki.ops.samples import tiles

CHANCE = Table("vector")
SEED = 2026


def drawn(shape: tuple[int, ...]) -> Array:
    """Numbers from 0 to 1 (without 1), the same for the same shape."""
    return np.random.default_rng([SEED, *shape]).random(shape, np.float32)


def _dropped(data: Array, rate: Any) -> Array:
    return np.where(drawn(data.shape) < rate, np.zeros_like(data), data)


@CHANCE.op("nl", cost=costs.streamed, sample=tiles("x", rate=0.5), result_dtype="first")
def dropout(x: Array, rate: Any) -> Array:
    """Put zeros with this probability; what is left is not scaled."""
    return _dropped(x, rate)


@CHANCE.op("nisa", cost=costs.streamed, sample=tiles("data", prob=0.5), result_dtype="first")
def dropout_(data: Array, prob: Any) -> Array:
    """Put zeros with this probability; what is left is not scaled."""
    return _dropped(data, prob)
