"""Reading at places that data gives: within rows, over partitions, and where segments end."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nkiport.nki import costs
from nkiport.nki.dtypes import Array
from nkiport.nki.op import HBM, SBUF, Call, Problem, Table, Work
from nkiport.nki.ops.samples import tile
from nkiport.nki.targets import Target

GATHER = Table("gpsimd")
SHUFFLES = Table("vector")
QUADRANT = 32
"""Partitions that ``nc_stream_shuffle`` moves data between."""
CORES = 16
"""Partitions that share one index list in ``local_gather``."""
KEEP = 255
"""The entry of a shuffle mask that leaves a partition as it was."""


@GATHER.op(
    "nl",
    cost=costs.general,
    sample=lambda rng: {
        "data": tile(rng), "indices": rng.integers(0, 24, (64, 8)).astype(np.uint32),
    },
    result_dtype="first",
    exact=True,
)  # fmt: skip
def gather_flattened(data: Array, indices: Array) -> Array:
    """Take elements of each row, its free dimensions as one, at that row's indices."""
    flat, places = data.reshape(len(data), -1), indices.reshape(len(indices), -1)
    taken = np.take_along_axis(flat, places.astype(np.int64) % flat.shape[1], axis=1)
    return taken.reshape(indices.shape)


def _index_groups(call: Call, _target: Target) -> Iterator[Problem]:
    partitions = call.operands["src_buffer"].partitions
    if partitions % CORES:
        yield Problem(
            "err_num_partition_mismatch", f"local_gather over {partitions} partitions",
            f"a multiple of {CORES}", "pad the tile",
        )  # fmt: skip


def _gathered(work: Work, _target: Target) -> float:
    return 150.0 + work.free


@GATHER.op(
    "nisa",
    cost=_gathered,
    check=_index_groups,
    sample=lambda rng: {
        "src_buffer": tile(rng), "index": rng.integers(0, 24, (64, 2)).astype(np.uint16),
    },
    result_dtype="first",
    exact=True,
    memory={"src_buffer": SBUF, "index": SBUF},
)  # fmt: skip
def local_gather(
    src_buffer: Array, index: Array, num_elem_per_idx: int = 1, num_valid_indices: Any = None
) -> Array:
    """Take runs of elements at indices that 16 partitions share, read partition by partition."""
    flat, size = src_buffer.reshape(len(src_buffer), -1), int(num_elem_per_idx)
    lists = index.reshape(len(index) // CORES, CORES, -1).transpose(0, 2, 1)
    lists = lists.reshape(len(lists), -1)[:, : num_valid_indices or None]
    places = lists[:, :, None].astype(np.int64) + np.arange(size)
    rows = np.repeat(places, CORES, axis=0).reshape(len(flat), -1)
    taken = np.take_along_axis(flat, rows % flat.shape[1], axis=1)
    shape = (len(flat), lists.shape[1], size) if size > 1 else (len(flat), lists.shape[1])
    return taken.reshape(shape)


@GATHER.op(
    "nisa",
    cost=costs.general,
    sample=lambda rng: {"segment_ids": np.sort(rng.integers(0, 4, (1, 24))).astype(np.float32)},
    result_dtype="first",
)
def sequence_bounds(segment_ids: Array) -> Array:
    """Give the start and the end of the run that each element is in; padding has n and -1."""
    ids, size = segment_ids[0], segment_ids.shape[1]
    changes = np.flatnonzero(np.diff(ids)) + 1
    starts = np.concatenate([[0], changes])
    ends = np.concatenate([changes, [size]])
    run = np.searchsorted(changes, np.arange(size), side="right")
    padding = ids == 0
    return np.stack([
        np.where(padding, size, starts[run]), np.where(padding, -1, ends[run]),
    ])[None].astype(np.float32)  # fmt: skip


def _mask_entries(call: Call, _target: Target) -> Iterator[Problem]:
    mask = call.attributes.get("shuffle_mask", ())
    if len(mask) != QUADRANT or any(m != KEEP and not 0 <= m < QUADRANT for m in mask):
        yield Problem(
            "err_shuffle_mask", f"a shuffle mask of {len(mask)} entries",
            f"{QUADRANT} entries, each below {QUADRANT} or {KEEP}",
        )  # fmt: skip


@SHUFFLES.op(
    "nisa",
    cost=costs.streamed,
    check=_mask_entries,
    sample=lambda rng: {
        "src": tile(rng), "dst": tile(rng), "shuffle_mask": tuple(reversed(range(32))),
    },
    writes=("dst",),
    reads_written=True,
    result=None,
    exact=True,
)  # fmt: skip
def nc_stream_shuffle(src: Array, dst: Array, shuffle_mask: tuple[int, ...]) -> tuple[None, Array]:
    """Move rows within each 32 partitions: row i becomes row mask[i]; 255 leaves it."""
    result = dst.copy()
    for place, source in enumerate(shuffle_mask):
        if source != KEEP:
            rows = np.arange(place, len(dst), QUADRANT)
            result[rows] = src[rows - place + source]
    return None, result


@SHUFFLES.op(
    "nisa",
    cost=lambda work, _target: max(600.0, work.free),
    sample=lambda rng: {"src": tile(rng)},
    result_dtype="first",
    exact=True,
)
def tensor_copy_dynamic_src(src: Array, engine: Any = None) -> Array:  # noqa: ARG001
    """Copy from a place in the row that data gives."""
    return src.copy()


@SHUFFLES.op(
    "nisa",
    cost=lambda work, _target: max(600.0, work.free),
    sample=lambda rng: {"dst": tile(rng), "src": tile(rng)},
    writes=("dst",),
    result=None,
    exact=True,
)
def tensor_copy_dynamic_dst(dst: Array, src: Array, engine: Any = None) -> tuple[None, Array]:  # noqa: ARG001
    """Copy to a place in the row that data gives."""
    return None, src


TURNS = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}
"""The permutations that a transposing DMA has."""
TRANSPOSES = Table("dma")


def _turns(call: Call, _target: Target) -> Iterator[Problem]:
    shape, axes = call.operands["src"].shape, call.attributes.get("axes")
    wanted = TURNS.get(len(shape))
    if wanted is None or (axes is not None and tuple(axes) != wanted):
        yield Problem(
            "err_exceed_max_supported_dimension", f"dma_transpose of {shape} by {axes}",
            "(1, 0), (2, 1, 0) or (3, 1, 2, 0)",
        )  # fmt: skip


@TRANSPOSES.op(
    "nisa",
    cost=costs.moved,
    check=_turns,
    turns=True,
    sample=lambda rng: {"src": tile(rng)},
    kind="dma",
    memory={"src": HBM | SBUF},
    result_dtype="first",
    exact=True,
)
def dma_transpose(src: Array, axes: Any = None) -> Array:
    """Turn a tensor on its way to SBUF: the last dimension comes to lie on the partitions."""
    return np.ascontiguousarray(src.transpose(axes or TURNS[src.ndim]))
