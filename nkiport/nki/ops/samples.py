"""Sample inputs of operations: small, legal, and of no special value."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nkiport.nki.dtypes import Array
from nkiport.nki.op import Sample


def tile(rng: np.random.Generator, rows: int = 64, columns: int = 24) -> Array:
    """Return a float32 tile of values between 0.1 and 1.4, inside every function's range."""
    return rng.uniform(0.1, 1.4, (rows, columns)).astype(np.float32)


def integers(rng: np.random.Generator, rows: int = 64, columns: int = 24) -> Array:
    """Return an int32 tile of values from 1 to 15."""
    return rng.integers(1, 16, (rows, columns), dtype=np.int32)


def tiles(*names: str, **others: Any) -> Sample:
    """Return a sample with a full float32 tile under each name, and the other arguments."""

    def sample(rng: np.random.Generator) -> Mapping[str, Any]:
        return {**{name: tile(rng) for name in names}, **others}

    return sample


def integer_tiles(*names: str, **others: Any) -> Sample:
    """Return a sample with a full int32 tile under each name, and the other arguments."""

    def sample(rng: np.random.Generator) -> Mapping[str, Any]:
        return {**{name: integers(rng) for name in names}, **others}

    return sample


def with_columns(names: tuple[str, ...], columns: tuple[str, ...], **others: Any) -> Sample:
    """Return a sample with full tiles and (P, 1) tiles, and the other arguments."""

    def sample(rng: np.random.Generator) -> Mapping[str, Any]:
        full = {name: tile(rng) for name in names}
        return {**full, **{name: tile(rng, columns=1) for name in columns}, **others}

    return sample
