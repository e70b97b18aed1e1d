"""One kernel for each function and instruction, beside what NumPy says of it.

A kernel's body leaves its result in ``r``. It has the tiles ``a`` and ``b`` (64, 24) of float32
from 0.1 to 1.4, ``i`` and ``j`` (64, 24) of int32 from 1 to 15, ``c`` (64, 1) of float32, ``x``
which is ``a`` in HBM, and ``P`` and ``F``, the index expressions of a tile.
"""

import math
from typing import Any, NamedTuple

import numpy as np

ROWS, COLUMNS = 64, 24


class Given(NamedTuple):
    """The inputs, as the oracles see them."""

    a: Any
    b: Any
    i: Any
    j: Any
    c: Any


def inputs():
    rng = np.random.default_rng(11)
    shape = (ROWS, COLUMNS)
    return Given(
        a=rng.uniform(0.1, 1.4, shape).astype(np.float32),
        b=rng.uniform(0.1, 1.4, shape).astype(np.float32),
        i=rng.integers(1, 16, shape, dtype=np.int32),
        j=rng.integers(1, 16, shape, dtype=np.int32),
        c=rng.uniform(0.1, 1.4, (ROWS, 1)).astype(np.float32),
    )


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def erf(x):
    return np.vectorize(math.erf)(x)


def normal(x):
    """The share of a standard normal distribution below x."""
    return 0.5 * (1 + erf(x / math.sqrt(2)))


def gelu(x):
    return x * normal(x)


UNARY = {
    "abs": np.abs, "arctan": np.arctan, "ceil": np.ceil, "cos": np.cos, "erf": erf,
    "erf_dx": lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x), "exp": np.exp,
    "floor": np.floor, "gelu": gelu, "gelu_apprx_sigmoid": lambda x: x * sigmoid(1.702 * x),
    "gelu_apprx_tanh": lambda x: (
        0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    ),
    "gelu_dx": lambda x: normal(x) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
    "log": np.log, "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))), "negative": np.negative,
    "reciprocal": np.reciprocal, "relu": lambda x: np.maximum(x, 0),
    "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": sigmoid, "sign": np.sign,
    "silu": lambda x: x * sigmoid(x),
    "silu_dx": lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x))), "sin": np.sin,
    "softplus": lambda x: np.log1p(np.exp(x)), "sqrt": np.sqrt, "square": np.square,
    "tan": np.tan, "tanh": np.tanh, "trunc": np.trunc,
}  # fmt: skip
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "maximum": np.maximum, "minimum": np.minimum, "power": np.power, "mod": np.mod,
    "fmod": np.fmod, "equal": np.equal, "not_equal": np.not_equal, "less": np.less,
    "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
}  # fmt: skip
BITS = {
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift, "right_shift": np.right_shift,
}  # fmt: skip
KEEP = ", keepdims=True"
REDUCED = {
    "sum": (np.sum, KEEP), "max": (np.max, KEEP), "min": (np.min, KEEP), "prod": (np.prod, KEEP),
    "mean": (np.mean, KEEP), "var": (np.var, ""), "all": (np.all, ""),
}  # fmt: skip


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def largest(x):
    return -np.sort(-x, axis=1)[:, :8]


def replaced(g):
    """Each of the eight largest values, replaced by -1."""
    return np.where(g.a >= largest(g.a)[:, 7:], np.float32(-1), g.a)


def stats(x):
    """Count, mean and variance times count of the even and of the odd elements."""
    parts = [x[:, 0::2], x[:, 1::2]]
    return np.concatenate(
        [[np.full(ROWS, p.shape[1]), p.mean(1), p.var(1) * p.shape[1]] for p in parts]
    ).T


def scanned(g):
    state, columns = g.c[:, 0], []
    for at in range(COLUMNS):
        state = g.a[:, at] * state + g.b[:, at]
        columns.append(state)
    return np.stack(columns, 1)


def bounds(g):
    ids = np.sort(g.i[0])
    starts = np.searchsorted(ids, ids, "left")
    return np.stack([starts, np.searchsorted(ids, ids, "right")])[None]


def shared_lists(g):
    """Of each 16 rows, the indices partition by partition, for all of them."""
    lists = np.concatenate([g.i[s : s + 16, :2].T.reshape(-1)[None] for s in range(0, ROWS, 16)])
    return np.stack([g.a[row, lists[row // 16]] for row in range(ROWS)])


KERNELS = {
    **{f"nl.{n}": (f"r = nl.{n}(a)", lambda g, f=f: f(g.a)) for n, f in UNARY.items()},
    **{f"nl.{n}": (f"r = nl.{n}(a, b)", lambda g, f=f: f(g.a, g.b)) for n, f in BINARY.items()},
    **{f"nl.{n}": (f"r = nl.{n}(i, j)", lambda g, f=f: f(g.i, g.j)) for n, f in BITS.items()},
    **{f"nl.{n}": (f"r = nl.{n}(a, axis=1{more})", lambda g, f=f: f(g.a, axis=1, keepdims=True))
       for n, (f, more) in REDUCED.items()},
    "nl.invert": ("r = nl.invert(i)", lambda g: np.invert(g.i)),
    "nl.logical_not": ("r = nl.logical_not(nl.greater(a, b))", lambda g: g.a <= g.b),
    "nl.where": ("r = nl.where(nl.greater(a, b), a, b)", lambda g: np.maximum(g.a, g.b)),
    "nl.copy": ("r = nl.copy(a, dtype=nl.float16)", lambda g: g.a.astype(np.float16)),
    "nl.softmax": ("r = nl.softmax(a, axis=1)", lambda g: softmax(g.a)),
    "nl.rms_norm": (
        "r = nl.rms_norm(a, b, axis=1, n=24)",
        lambda g: g.a / np.sqrt((g.a**2).mean(1, keepdims=True) + 1e-6) * g.b,
    ),
    "nl.dropout": ("r = nl.dropout(a, rate=0.0)", lambda g: g.a),
    "nl.transpose": ("r = nl.copy(nl.transpose(a))", lambda g: g.a.T),
    "nl.broadcast_to": (
        "r = nl.copy(nl.broadcast_to(a[0:1, 0:24], shape=(64, 24)))",
        lambda g: np.broadcast_to(g.a[:1], g.a.shape),
    ),
    "nl.matmul": ("r = nl.copy(nl.matmul(a, b, transpose_x=True))", lambda g: g.a.T @ g.b),
    "nl.gather_flattened": (
        "r = nl.gather_flattened(a, nl.copy(i, dtype=nl.uint32))",
        lambda g: np.take_along_axis(g.a, g.i, 1),
    ),
    "nl.load": ("r = nl.load(x)", lambda g: g.a),
    "nl.load_transpose2d": ("r = nl.load_transpose2d(x)", lambda g: g.a.T),
    "nl.store": ("r = nl.add(a, 1.0)", lambda g: g.a + 1),
    "nisa.nc_matmul": ("r = nl.copy(nisa.nc_matmul(a, b))", lambda g: g.a.T @ g.b),
    "nisa.nc_transpose": ("r = nl.copy(nisa.nc_transpose(a))", lambda g: g.a.T),
    "nisa.tensor_copy": ("r = nisa.tensor_copy(a)", lambda g: g.a),
    "nisa.tensor_tensor": (
        "r = nisa.tensor_tensor(a, b, op=np.subtract)", lambda g: g.a - g.b,
    ),
    "nisa.tensor_scalar": (
        ("r = nisa.tensor_scalar(a, op0=np.subtract, operand0=c, reverse0=True,"
        " op1=np.multiply, operand1=2.0)"),
        lambda g: (g.c - g.a) * 2,
    ),
    "nisa.tensor_scalar_reduce": (
        ("r = nl.ndarray((64, 1), dtype=nl.float32)\n"
        "s = nisa.tensor_scalar_reduce(data=a, op0=np.multiply, operand0=2.0, reduce_op=np.add,"
        " reduce_res=r)"),
        lambda g: (g.a * 2).sum(1, keepdims=True),
    ),
    "nisa.tensor_reduce": (
        "r = nisa.tensor_reduce(np.add, a, axis=1, negate=True, keepdims=True)",
        lambda g: -g.a.sum(1, keepdims=True),
    ),
    "nisa.reciprocal": ("r = nisa.reciprocal(a)", lambda g: 1 / g.a),
    "nisa.memset": (
        "r = nisa.memset((64, 24), 1.5, nl.float32)", lambda _g: np.full((64, 24), 1.5),
    ),
    "nisa.tensor_copy_predicated": (
        ("r = nl.copy(b)\n"
        "nisa.tensor_copy_predicated(src=a, dst=r, predicate=nl.greater(a, b, dtype=nl.uint8))"),
        lambda g: np.maximum(g.a, g.b),
    ),
    "nisa.scalar_tensor_tensor": (
        ("r = nisa.scalar_tensor_tensor(data=a, op0=np.multiply, operand0=c, op1=np.subtract,"
        " operand1=b)"),
        lambda g: g.a * g.c - g.b,
    ),
    "nisa.tensor_tensor_scan": (
        "r = nisa.tensor_tensor_scan(a, b, initial=c, op0=np.multiply, op1=np.add)", scanned,
    ),
    "nisa.bn_stats": ("r = nisa.bn_stats(a)", lambda g: stats(g.a)),
    "nisa.bn_aggr": (
        "r = nisa.bn_aggr(nisa.bn_stats(a))", lambda g: np.stack([g.a.mean(1), g.a.var(1)], 1),
    ),
    "nisa.max8": ("r = nisa.max8(src=a)", lambda g: largest(g.a)),
    "nisa.nc_find_index8": (
        "r = nisa.nc_find_index8(data=a, vals=nisa.max8(src=a))",
        lambda g: np.argsort(-g.a, axis=1)[:, :8],
    ),
    "nisa.nc_match_replace8": (
        "r = nisa.nc_match_replace8(data=a, vals=nisa.max8(src=a), imm=-1.0)", replaced,
    ),
    "nisa.select_reduce": (
        ("r = nl.ndarray((64, 24), dtype=nl.float32)\n"
        "nisa.select_reduce(dst=r, predicate=nl.greater(a, b, dtype=nl.uint8), on_true=a,"
        " on_false=-3.0)"),
        lambda g: np.where(g.a > g.b, g.a, -3),
    ),
    "nisa.dropout": ("r = nisa.dropout(a, prob=1.0)", lambda g: 0 * g.a),
    "nisa.nc_stream_shuffle": (
        ("r = nl.copy(b)\n"
        "nisa.nc_stream_shuffle(a, r, [1, 0] + [255] * 30)"),
        lambda g: np.concatenate(
            [np.concatenate([g.a[s : s + 2][::-1], g.b[s + 2 : s + 32]]) for s in (0, 32)]
        ),
    ),
    "nisa.tensor_copy_dynamic_src": (
        ("at = nl.copy(i[0:1, 0:1])\n"
        "k = nl.arange(4)[None, :]\n"
        "r = nisa.tensor_copy_dynamic_src(a[P, at + k])"),
        lambda g: g.a[:, g.i[0, 0] : g.i[0, 0] + 4],
    ),
    "nisa.tensor_copy_dynamic_dst": (
        ("at = nl.copy(i[0:1, 0:1])\n"
        "k = nl.arange(4)[None, :]\n"
        "r = nl.copy(b)\n"
        "nisa.tensor_copy_dynamic_dst(dst=r[P, at + k], src=a[P, k])"),
        lambda g: np.concatenate(
            [g.b[:, : g.i[0, 0]], g.a[:, :4], g.b[:, g.i[0, 0] + 4 :]], 1
        ),
    ),
    "nisa.activation": (
        "r = nisa.activation(op=nl.exp, data=a, bias=c, scale=0.5)",
        lambda g: np.exp(g.a * 0.5 + g.c),
    ),
    "nisa.activation_reduce": (
        ("r = nl.ndarray((64, 1), dtype=nl.float32)\n"
        "s = nisa.activation_reduce(np.exp, a, reduce_op=np.add, reduce_res=r)"),
        lambda g: np.exp(g.a).sum(1, keepdims=True),
    ),
    "nisa.iota": (
        "r = nisa.iota(3 * P + F, dtype=nl.int32)",
        lambda _g: 3 * np.arange(64)[:, None] + np.arange(24)[None],
    ),
    "nisa.affine_select": (
        "r = nisa.affine_select(pred=(P - F >= 0), on_true_tile=a, on_false_value=-9.0)",
        lambda g: np.where(np.tri(64, 24, dtype=bool), g.a, -9),
    ),
    "nisa.tensor_partition_reduce": (
        "r = nisa.tensor_partition_reduce(np.max, a)", lambda g: g.a.max(0, keepdims=True),
    ),
    "nisa.local_gather": (
        "r = nisa.local_gather(a, nl.copy(i[0:64, 0:2], dtype=nl.uint16))", shared_lists,
    ),
    "nisa.sequence_bounds": (
        "r = nisa.sequence_bounds(segment_ids=ids)", bounds,
    ),
    "nisa.dma_copy": (
        "r = nl.ndarray((64, 24), dtype=nl.float32)\nnisa.dma_copy(dst=r, src=x)", lambda g: g.a,
    ),
    "nisa.dma_transpose": ("r = nisa.dma_transpose(x)", lambda g: g.a.T),
}  # fmt: skip
LATER = {
    "nisa.range_select": (
        (
            "r = nisa.range_select(on_true_tile=a, comp_op0=np.greater_equal, comp_op1=np.less,"
            " bound0=nl.multiply(c, 4.0), bound1=nl.multiply(c, 16.0), on_false_value=-9.0)"
        ),
        lambda g: np.where(
            (np.arange(24) >= g.c * 4) & (np.arange(24) < g.c * 16), g.a, np.float32(-9)
        ),
    ),
}
"""Instructions that the target of this dialect does not have: they end in a finding."""
