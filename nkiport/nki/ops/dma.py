"""Data movement between HBM and the chip."""

from collections.abc import Iterator

import numpy as np

from nkiport.nki import costs
from nkiport.nki.checks import partition_limit
from nkiport.nki.dtypes import Array
from nkiport.nki.op import HBM, ON_CHIP, SBUF, Call, Problem, Table
from nkiport.nki.ops.samples import tile, tiles
from nkiport.nki.targets import Target

DMA = Table("dma")


def _becomes_a_tile(call: Call, target: Target) -> Iterator[Problem]:
    shape = call.operands["src"].shape
    if shape and shape[0] > target.partitions:
        yield partition_limit("the loaded tile", shape[0], target)


@DMA.op(
    "nl",
    cost=costs.moved,
    check=_becomes_a_tile,
    sample=tiles("src"),
    kind="dma",
    memory={"src": HBM},
    result_dtype="first",
    exact=True,
)
def load(src: Array) -> Array:
    """Load from HBM into a new SBUF tile; a column of a tensor becomes a tile of one column."""
    return src.copy() if src.ndim > 1 else src.reshape(-1, 1).copy()


def _turned_becomes_a_tile(call: Call, target: Target) -> Iterator[Problem]:
    shape = call.operands["src"].shape
    if len(shape) != 2:  # noqa: PLR2004
        yield Problem("err_exceed_max_supported_dimension", f"shape {shape}", "two dimensions")
    elif shape[1] > target.partitions:
        yield partition_limit("the transposed tile", shape[1], target)


@DMA.op(
    "nl",
    cost=costs.moved,
    check=_turned_becomes_a_tile,
    turns=True,
    sample=tiles("src"),
    kind="dma",
    memory={"src": HBM},
    result_dtype="first",
    exact=True,
)
def load_transpose2d(src: Array) -> Array:
    """Load (R, C) from HBM into a new SBUF tile (C, R); slow."""
    return np.array(src.T, order="C")


@DMA.op(
    "nl",
    cost=costs.moved,
    sample=lambda rng: {"dst": tile(rng), "value": tile(rng)},
    kind="dma",
    memory={"dst": HBM, "value": ON_CHIP},
    result=None,
    writes=("dst",),
    exact=True,
)
def store(dst: Array, value: Array) -> tuple[None, Array]:  # noqa: ARG001
    """Store a tile to HBM."""
    return None, value


@DMA.op(
    "nisa",
    cost=costs.moved,
    sample=lambda rng: {"dst": tile(rng), "src": tile(rng)},
    kind="dma",
    memory={"dst": HBM | SBUF, "src": HBM | SBUF},
    result=None,
    writes=("dst",),
    exact=True,
    broadcasts=True,
)
def dma_copy(dst: Array, src: Array) -> tuple[None, Array]:  # noqa: ARG001
    """Copy between any two places in HBM and SBUF."""
    return None, src
