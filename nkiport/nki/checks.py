"""Rules that several operations share. Each yields the problems of one call on one target."""

from collections.abc import Iterator

from nkiport.nki.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, is_float
from nkiport.nki.functions import ALIASES, BINARY, UNARY
from nkiport.nki.op import ON_CHIP, SBUF, Buffer, Call, Check, Op, Operand, Problem
from nkiport.nki.targets import Target


def problems(op: Op, call: Call, target: Target) -> tuple[Problem, ...]:
    """Every rule the call breaks: memory, partitions, and the operation's own."""
    found = [*_memory(op, call), *_partitions(op, call, target)]
    return tuple(found or op.check(call, target))


def places(op: Op, name: str) -> frozenset[Buffer]:
    """Where an operand may be: as declared, else on chip; GpSimd does not reach PSUM."""
    return op.memory.get(name, SBUF if op.engine == "gpsimd" else ON_CHIP)


def _memory(op: Op, call: Call) -> Iterator[Problem]:
    for name, operand in call.operands.items():
        allowed = places(op, name)
        if operand.buffer not in allowed:
            named = " or ".join(sorted(allowed))
            yield Problem(
                "err_unsupported_memory",
                f"{op.key}: '{name}' is in {operand.buffer}",
                f"it may be in {named}",
                "load it into SBUF first (nl.load)"
                if "hbm" in operand.buffer
                else f"copy it to {named} first (nl.copy, nisa.tensor_copy)",
            )


def _partitions(op: Op, call: Call, target: Target) -> Iterator[Problem]:
    on_chip = {n: o for n, o in call.operands.items() if "hbm" not in o.buffer}
    for name, operand in on_chip.items():
        yield from _one_operand(op, name, operand, target)
    sizes = {operand.partitions for operand in on_chip.values()}
    if op.namespace == "nisa" and not op.broadcasts and len(sizes) > 1:
        listed = ", ".join(f"'{n}' {o.partitions}" for n, o in on_chip.items())
        yield Problem(
            "err_num_partition_mismatch",
            f"{op.key}: partitions differ: {listed}",
            "the operands of one instruction have the same number of partitions",
            "use broadcast_to((P, F)), or the nl operation, which broadcasts",
        )


def _one_operand(op: Op, name: str, operand: Operand, target: Target) -> Iterator[Problem]:
    size = operand.partitions
    if size > target.partitions:
        yield partition_limit(f"{op.key}: '{name}'", size, target)
    elif operand.start % start_step(size) != 0:
        yield Problem(
            "err_start_partition",
            f"{op.key}: '{name}' has {size} partitions and starts at {operand.start}",
            "up to 32 partitions start at a multiple of 32, up to 64 at 0 or 64, more at 0",
            "move the data so that it starts on such a partition",
        )
    if operand.partition_step != 1 and size > 1:
        yield Problem(
            "err_partition_stride",
            f"{op.key}: '{name}' takes every {operand.partition_step}th partition",
            "on chip the partitions of a tile follow each other",
            "stride on the HBM side of the load instead",
        )


def start_step(size: int) -> int:
    """Return the multiple at which a tile of so many partitions may start."""
    return 32 if size <= 32 else 64 if size <= 64 else 128  # noqa: PLR2004


def partition_limit(what: str, size: int, target: Target) -> Problem:
    """Return the problem of a tile with too many partitions."""
    return Problem(
        "err_num_partition_exceed_arch_limit",
        f"{what} has {size} partitions",
        f"a tile has at most {target.partitions}",
        f"split dimension 0 into tiles of {target.partitions} rows",
    )


def free_limit(what: str, size: int, limit: int, fix: str) -> Iterator[Problem]:
    """Yield the problem of a free size above the limit of the instruction."""
    if size > limit:
        yield Problem(
            "err_size_of_dimension_exceed_arch_limit",
            f"{what} has {size} elements per partition",
            f"at most {limit}",
            fix,
        )


def vector_or_scalar(*names: str) -> Check:
    """Return the rule that these operands are scalars or (P, 1) tiles."""

    def check(call: Call, _target: Target) -> Iterator[Problem]:
        for name in names:
            operand = call.operands.get(name)
            if operand is not None and operand.free != 1:
                yield Problem(
                    "err_operand_scalar_or_vector",
                    f"'{name}' has shape {operand.shape}",
                    "a scalar or a tile of shape (P, 1)",
                    "use nisa.tensor_tensor for two full tiles",
                )

    return check


def known_functions(*names: str, unary: bool = False) -> Check:
    """Return the rule that these arguments name element functions."""
    allowed = UNARY if unary else {**BINARY, **UNARY}

    def check(call: Call, _target: Target) -> Iterator[Problem]:
        for name in names:
            value = call.attributes.get(name)
            if value is not None and ALIASES.get(value, value) not in allowed:
                yield Problem(
                    "err_unknown_operator",
                    f"{name}={value!r}",
                    f"one of {', '.join(sorted(allowed))}",
                    "pass nl.<function>",
                )

    return check


def activation_rules(call: Call, target: Target) -> Iterator[Problem]:
    """The function is one the scalar engine has; scale and bias are vectors of the right type."""
    yield from known_functions("op", unary=True)(call, target)
    name = ALIASES.get(call.attributes.get("op", ""), call.attributes.get("op", ""))
    if name in UNARY and not UNARY[name].activation:
        allowed = ", ".join(sorted(n for n, f in UNARY.items() if f.activation))
        yield Problem("err_unknown_operator", f"activation op={name}", f"one of {allowed}")
    bias, scale = call.operands.get("bias"), call.operands.get("scale")
    if bias is not None and (bias.dtype not in {FLOAT32, FLOAT16, BFLOAT16} or bias.free != 1):
        yield Problem(
            "err_activation_bias_invalid_type",
            f"bias is {bias.dtype.name} of shape {bias.shape}",
            "a (P, 1) tile of float32, float16 or bfloat16",
            "make one with nisa.memset or nl.zeros((P, 1), nl.float32)",
        )
    elif bias is None and isinstance(call.attributes.get("bias"), int | float):
        yield Problem(
            "err_activation_bias_invalid_type",
            f"bias is the number {call.attributes['bias']}",
            "a (P, 1) tile of float32, float16 or bfloat16",
            "make one with nisa.memset((P, 1), value, nl.float32)",
        )
    if scale is not None and scale.free != 1:
        yield Problem(
            "err_activation_scale_scalar_or_vector",
            f"scale has shape {scale.shape}",
            "a number or a (P, 1) tile",
            "use nl.multiply for a full tile",
        )
    if scale is not None and scale.dtype != FLOAT32:
        yield Problem(
            "err_activation_scale_invalid_type",
            f"scale is {scale.dtype.name}",
            "float32",
            "load or copy it with dtype=nl.float32",
        )
    reduce = call.attributes.get("reduce_op")
    if reduce is not None and ALIASES.get(reduce, reduce) != "add":
        yield Problem("err_unknown_operator", f"activation reduce_op={reduce}", "only add")


def not_both_psum(first: str, second: str) -> Check:
    """Return the rule that two operands do not both come from PSUM."""

    def check(call: Call, _target: Target) -> Iterator[Problem]:
        pair = [call.operands[name] for name in (first, second) if name in call.operands]
        if len(pair) > 1 and all(operand.buffer == "psum" for operand in pair):
            yield Problem(
                "err_unsupported_memory",
                f"'{first}' and '{second}' are both in psum",
                "one of them may be",
                "copy one to SBUF first (nisa.tensor_copy)",
            )

    return check


def broadcastable(first: str, second: str) -> Check:
    """Return the rule that two operands have shapes that NumPy would broadcast."""

    def check(call: Call, _target: Target) -> Iterator[Problem]:
        pair = [call.operands[name].shape for name in (first, second) if name in call.operands]
        if len(pair) > 1 and not fits(*pair):
            yield Problem(
                "err_shape_mismatch",
                f"'{first}' has shape {pair[0]} and '{second}' {pair[1]}",
                "equal sizes, or 1",
                "index or broadcast one to the shape of the other",
            )

    return check


def fits(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two shapes broadcast.

    >>> fits((128, 1), (128, 512)), fits((128, 2), (128, 512))
    (True, False)
    """
    pairs = zip(reversed(a), reversed(b), strict=False)
    return all(x == y or 1 in {x, y} for x, y in pairs)


def squeezed(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """A shape without the 1s at its end, as far as a rank asks for it.

    >>> squeezed((128, 1, 1), 2), squeezed((128, 3), 1)
    ((128, 1), (128, 3))
    """
    while len(shape) > rank and shape[-1] == 1:
        shape = shape[:-1]
    return shape


def fits_into(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether a shape broadcasts up to another.

    >>> fits_into((1, 8), (128, 8)), fits_into((128, 8), (1, 8))
    (True, False)
    """
    pairs = zip(reversed(a), reversed(b), strict=False)
    return len(a) <= len(b) and all(x in {1, y} for x, y in pairs)


def free_axes(call: Call, _target: Target) -> Iterator[Problem]:
    """The reduced axes are free ones: not the partition dimension, and inside the rank."""
    data = next(iter(call.operands.values()))
    axis = call.attributes.get("axis", -1)
    rank = len(data.shape)
    for each in axis if isinstance(axis, tuple | list) else (axis,):
        if not -rank <= each < rank or each % rank == 0:
            yield Problem(
                "err_reduction_axis",
                f"axis {each} of a tile of shape {data.shape}",
                f"the free axes 1 to {rank - 1}",
                "transpose first, or use nisa.tensor_partition_reduce or a matmul with ones",
            )


def integers_only(*names: str) -> Check:
    """Return the rule that operands of a bitwise function are integers."""

    def check(call: Call, _target: Target) -> Iterator[Problem]:
        for name in names:
            operand = call.operands.get(name)
            if operand is not None and (is_float(operand.dtype) or operand.dtype == BOOL):
                yield Problem(
                    "err_bitwise_on_float",
                    f"'{name}' is {operand.dtype.name}",
                    "integers other than bool",
                    "copy it to an integer type first",
                )

    return check


def every(*checks: Check) -> Check:
    """Return the rule that all of these hold."""

    def check(call: Call, target: Target) -> Iterator[Problem]:
        for each in checks:
            yield from each(call, target)

    return check
