"""The tensor engine: matrix multiplies into PSUM, and the transposes it does by multiplying."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nkiport.nki import costs
from nkiport.nki.checks import fits_into, free_limit, partition_limit, squeezed
from nkiport.nki.dtypes import Array, is_float
from nkiport.nki.op import SBUF, Buffer, Call, Problem, Table
from nkiport.nki.ops.samples import tile, tiles
from nkiport.nki.targets import Engine, Target

TENSOR = Table("tensor")
VECTOR_SQUARE = 32
"""The vector engine transposes inside squares of so many partitions."""


def _float_operands(call: Call) -> Iterator[Problem]:
    for name, operand in call.operands.items():
        if not is_float(operand.dtype):
            yield Problem(
                "err_matmul_dtype",
                f"'{name}' is {operand.dtype.name}",
                "a floating type",
                "copy it to bfloat16 or float32 first",
            )


def _same_depth(first: str, a: int, second: str, b: int) -> Iterator[Problem]:
    if a != b:
        yield Problem(
            "err_shape_mismatch",
            f"'{first}' contracts over {a} and '{second}' over {b}",
            "the same contraction size on both sides",
            "the contraction axis is the partition dimension of both operands",
        )


def _fits_the_array(call: Call, target: Target) -> Iterator[Problem]:
    stationary, moving = call.operands["stationary"], call.operands["moving"]
    yield from _float_operands(call)
    yield from _same_depth("stationary", stationary.partitions, "moving", moving.partitions)
    pairs = 2 if _in_pairs(call.attributes.get("perf_mode")) else 1
    if pairs > 1:
        yield from _pairs_of_rows(call, target)
    for name, each, limit, axis in (
        ("stationary", stationary, target.stationary_fmax, "M"),
        ("moving", moving, target.moving_fmax, "N"),
    ):
        size = each.free // pairs
        yield from free_limit(f"nc_matmul: '{name}'", size, limit, f"split {axis} into tiles")


def _in_pairs(perf_mode: Any) -> bool:
    """Whether two rows are multiplied in each partition."""
    return "double_row" in str(perf_mode)


def _pairs_of_rows(call: Call, target: Target) -> Iterator[Problem]:
    """Two rows in each partition: 8-bit types, (K, 2, free), from the second generation on."""
    if target.generation < 3:  # noqa: PLR2004
        yield Problem("err_unsupported_instruction", f"double rows on {target.name}", "trn2, trn3")
    for name, each in call.operands.items():
        if len(each.shape) < 3 or each.shape[1] != 2 or each.dtype.itemsize != 1:  # noqa: PLR2004
            yield Problem(
                "err_shape_mismatch", f"double rows of '{name}' {each.shape} {each.dtype.name}",
                "(K, 2, free) of an 8-bit floating type", "lay the rows of a pair side by side",
            )  # fmt: skip


@TENSOR.op(
    "nisa",
    cost=costs.matmul,
    check=_fits_the_array,
    sample=lambda rng: {"stationary": tile(rng, 64, 32), "moving": tile(rng, 64, 96)},
    kind="matmul",
    memory={"stationary": SBUF, "moving": SBUF},
    result="psum",
    result_dtype="float32",
    broadcasts=True,
)
def nc_matmul(
    stationary: Array,
    moving: Array,
    is_stationary_onezero: bool = False,  # noqa: ARG001
    is_moving_onezero: bool = False,  # noqa: ARG001
    is_transpose: bool = False,
    tile_position: Any = (),  # noqa: ARG001
    tile_size: Any = (),  # noqa: ARG001
    perf_mode: Any = None,
) -> Array:
    """Multiply ``stationary``, transposed, by ``moving`` into fp32 in PSUM."""
    if _in_pairs(perf_mode):
        return np.asarray(np.einsum("krm,krn->mn", stationary, moving))
    left = stationary.reshape(stationary.shape[0], -1)
    right = moving.reshape(moving.shape[0], -1)
    if is_transpose and np.array_equal(right, np.eye(len(right))):
        return left.T.copy()  # what is moved keeps apart: no product with the other rows
    return (left.T @ right).reshape(left.shape[1], *moving.shape[1:])


def _matmul_rules(call: Call, target: Target) -> Iterator[Problem]:
    x, y = call.operands["x"], call.operands["y"]
    depth, rows = (
        (x.partitions, x.free)
        if call.attributes.get("transpose_x")
        else (
            x.free,
            x.partitions,
        )
    )
    yield from _float_operands(call)
    yield from _same_depth("x", depth, "y", y.partitions)
    yield from free_limit("matmul: 'x'", max(rows, depth), target.stationary_fmax, "split M and K")
    yield from free_limit("matmul: 'y'", y.free, target.moving_fmax, "split N into tiles")


@TENSOR.op(
    "nl",
    cost=costs.matmul_with_transpose,
    also=(("scalar", costs.left_side_copied),),
    check=_matmul_rules,
    sample=lambda rng: {"x": tile(rng, 32, 64), "y": tile(rng, 64, 96)},
    kind="matmul",
    memory={"x": SBUF, "y": SBUF},
    result="psum",
    result_dtype="float32",
    broadcasts=True,
)
def matmul(x: Array, y: Array, transpose_x: bool = False) -> Array:
    """Multiply x (M, K), or (K, M) if ``transpose_x``, by y (K, N) into fp32 in PSUM."""
    return np.asarray((x.T if transpose_x else x) @ y)


def _turns(call: Call) -> tuple[Engine, Buffer]:
    data = call.operands["data"]
    asked = call.attributes.get("engine")
    small = max(data.partitions, data.free) <= VECTOR_SQUARE
    by_vector = asked == "vector" or (asked not in {"tensor", "vector"} and small)
    return ("vector", "sbuf") if by_vector else ("tensor", "psum")


def _turn_limits(call: Call, target: Target) -> Iterator[Problem]:
    data = call.operands["data"]
    engine, _ = _turns(call)
    limit = VECTOR_SQUARE if engine == "vector" else target.partitions
    size = max(data.partitions, data.free)
    yield from free_limit(f"nc_transpose on {engine}: 'data'", size, limit, "split it into tiles")
    if engine == "tensor" and data.buffer != "sbuf":
        yield Problem(
            "err_unsupported_memory",
            f"nc_transpose on the tensor engine: 'data' is in {data.buffer}",
            "it may be in sbuf",
            "copy it to SBUF first (nisa.tensor_copy)",
        )


@TENSOR.op(
    "nisa",
    cost=costs.turned,
    check=_turn_limits,
    sample=tiles("data"),
    place=_turns,
    result="psum",
    result_dtype="first",
    kind="move",
    exact=True,
    turns=True,
)
def nc_transpose(data: Array, engine: str | None = None) -> Array:  # noqa: ARG001
    """Swap the partition dimension with the flattened free ones."""
    return np.array(data.reshape(data.shape[0], -1).T, order="C")


def _two_dimensions(call: Call, target: Target) -> Iterator[Problem]:
    x = call.operands["x"]
    if len(x.shape) > 2:  # noqa: PLR2004
        yield Problem(
            "err_exceed_max_supported_dimension",
            f"transpose of shape {x.shape}",
            "two dimensions",
            "index it down to two dimensions",
        )
    yield from free_limit("transpose: 'x'", x.free, target.partitions, "split it into tiles")


@TENSOR.op(
    "nl",
    cost=costs.turned,
    also=(("scalar", costs.turned_copied),),
    check=_two_dimensions,
    sample=tiles("x"),
    result_dtype="first",
    kind="move",
    exact=True,
    turns=True,
)
def transpose(x: Array) -> Array:
    """Swap the partition and the free dimension of a tile."""
    return np.array(x.T, order="C")


def _grows(call: Call, target: Target) -> Iterator[Problem]:
    old, new = call.operands["src"].shape, tuple(call.attributes["shape"])
    if not fits_into(squeezed(old, len(new)), new):
        yield Problem("err_shape_mismatch", f"broadcast {old} to {new}", "sizes of 1 grow")
    elif new[0] > target.partitions:
        yield partition_limit("the broadcast tile", new[0], target)


@TENSOR.op(
    "nl",
    cost=costs.matmul,
    also=(("scalar", costs.streamed),),
    sample=lambda rng: {"src": tile(rng, 1, 24), "shape": (64, 24)},
    result_dtype="first",
    kind="move",
    exact=True,
    broadcasts=True,
    check=_grows,
)
def broadcast_to(src: Array, shape: Any) -> Array:
    """Repeat along dimensions of size 1, the partition dimension included."""
    return np.array(np.broadcast_to(src.reshape(squeezed(src.shape, len(shape))), shape), order="C")
