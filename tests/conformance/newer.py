"""Kernels in the newer dialect, beside what NumPy says of them; inputs as in ``kernels``."""

import ml_dtypes
import numpy as np

from tests.conformance.kernels import replaced, shared_lists

TILE = "nl.ndarray((64, 24), dtype=nl.float32, buffer=nl.sbuf)"


def made(body, shape="(64, 24)", dtype="nl.float32", buffer="nl.sbuf"):
    return f"r = nl.ndarray({shape}, dtype={dtype}, buffer={buffer})\n{body}"


def eighths(a):
    """Values as 8 bits hold them, two rows for each partition."""
    return a.reshape(64, 2, 12).astype(ml_dtypes.float8_e5m2).astype(np.float32)


ROW = "(64, 1)"
LARGEST = "v = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.sbuf)\nnisa.max8(dst=v, src=a)\n"
CHOSEN = (
    "u = nl.ndarray((64, 24), dtype=nl.uint8, buffer=nl.sbuf)\n"
    "nisa.tensor_scalar(dst=u, data=i, op0=nl.greater_equal, operand0=8)\n"
)
NEWER = {
    "activation": (
        made("nisa.activation(dst=r, op=nl.exp, data=a, bias=c, scale=0.5)"),
        lambda g: np.exp(g.a * 0.5 + g.c),
    ),
    "activation_reduce": (
        made("s = " + TILE + "\nnisa.activation_reduce(dst=s, op=nl.exp, data=a, reduce_op=nl.add,"
             " reduce_res=r)", ROW),
        lambda g: np.exp(g.a).sum(1, keepdims=True),
    ),
    "affine_select": (
        made("nisa.affine_select(dst=r, pattern=[[-1, 24]], channel_multiplier=1, on_true_tile=a,"
             " on_false_value=-9.0, cmp_op=nl.greater_equal)"),
        lambda g: np.where(np.tri(64, 24, dtype=bool), g.a, -9),
    ),
    "bn_stats": (
        made("nisa.bn_stats(dst=s6, data=a)\nnisa.bn_aggr(dst=r, data=s6)", "(64, 2)").replace(
            "nisa.bn_stats", "s6 = nl.ndarray((64, 6), dtype=nl.float32, buffer=nl.sbuf)\n"
            "nisa.bn_stats"),
        lambda g: np.stack([g.a.mean(1), g.a.var(1)], 1),
    ),
    "dma_copy": (made("nisa.dma_copy(dst=r, src=x)"), lambda g: g.a),
    "dma_compute": (made("nisa.dma_compute(r, [x, y], reduce_op=nl.add)"), lambda g: g.a + g.b),
    "dma_transpose": (made("nisa.dma_transpose(dst=r, src=x)", "(24, 64)"), lambda g: g.a.T),
    "iota": (
        made("nisa.iota(dst=r, pattern=[[2, 24]], offset=5, channel_multiplier=3)",
             dtype="nl.int32"),
        lambda _g: 5 + 3 * np.arange(64)[:, None] + 2 * np.arange(24)[None],
    ),
    "max8": (
        made("nisa.max8(dst=r, src=a)", "(64, 8)"), lambda g: -np.sort(-g.a, axis=1)[:, :8],
    ),
    "memset": (made("nisa.memset(dst=r, value=2.5)"), lambda _g: np.full((64, 24), 2.5)),
    "nc_matmul": (
        "p = nl.ndarray((24, 24), dtype=nl.float32, buffer=nl.psum)\n"
        "for k in range(2):\n"
        "    rows = slice(k * 32, k * 32 + 32)\n"
        "    nisa.nc_matmul(dst=p, stationary=a[rows], moving=b[rows])\n"
        + made("nisa.tensor_copy(dst=r, src=p)", "(24, 24)"),
        lambda g: g.a.T @ g.b,
    ),
    "nc_matmul of double rows": (
        "u = nl.ndarray((64, 2, 12), dtype=nl.float8_e5m2, buffer=nl.sbuf)\n"
        "nisa.tensor_copy(dst=u, src=a.reshape((64, 2, 12)))\n"
        "p = nl.ndarray((12, 12), dtype=nl.float32, buffer=nl.psum)\n"
        "nisa.nc_matmul(dst=p, stationary=u, moving=u, perf_mode='double_row')\n"
        + made("nisa.tensor_copy(dst=r, src=p)", "(12, 12)"),
        lambda g: np.einsum("krm,krn->mn", eighths(g.a), eighths(g.a)),
    ),
    "nc_n_gather": (
        "u = nl.ndarray((64, 24), dtype=nl.uint32, buffer=nl.sbuf)\n"
        "nisa.tensor_copy(dst=u, src=i)\n" + made("nisa.nc_n_gather(dst=r, data=a, indices=u)"),
        lambda g: np.take_along_axis(g.a, g.i, 1),
    ),
    "nc_transpose": (
        "p = nl.ndarray((24, 64), dtype=nl.float32, buffer=nl.psum)\n"
        "nisa.nc_transpose(dst=p, data=a)\n" + made("nisa.tensor_copy(dst=r, src=p)", "(24, 64)"),
        lambda g: g.a.T,
    ),
    "range_select": (
        made("nisa.range_select(dst=r, on_true_tile=a, comp_op0=nl.greater_equal,"
             " comp_op1=nl.less, bound0=c, bound1=nl.multiply(c, 16.0), on_false_value=-9.0)"),
        lambda g: np.where(
            (np.arange(24) >= g.c) & (np.arange(24) < g.c * 16), g.a, np.float32(-9)
        ),
    ),
    "reciprocal": (made("nisa.reciprocal(dst=r, data=a)"), lambda g: 1 / g.a),
    "scalar_tensor_tensor": (
        made("nisa.scalar_tensor_tensor(dst=r, data=a, op0=nl.multiply, operand0=c,"
             " op1=nl.subtract, operand1=b)"),
        lambda g: g.a * g.c - g.b,
    ),
    "tensor_reduce": (
        made("nisa.tensor_reduce(dst=r, op=nl.maximum, data=a, axis=1, keepdims=True)", ROW),
        lambda g: g.a.max(1, keepdims=True),
    ),
    "tensor_scalar": (
        made("nisa.tensor_scalar(dst=r, data=a, op0=nl.subtract, operand0=c, op1=nl.multiply,"
             " operand1=2.0)"),
        lambda g: (g.a - g.c) * 2,
    ),
    "tensor_tensor": (
        made("nisa.tensor_tensor(dst=r, data1=a, data2=b, op=nl.subtract)"), lambda g: g.a - g.b,
    ),
    "tensor_tensor_scan": (
        made("nisa.tensor_tensor_scan(dst=r, data0=nl.ones((64, 24), dtype=nl.float32), data1=a,"
             " initial=0.0, op0=nl.multiply, op1=nl.add)"),
        lambda g: g.a.cumsum(1),
    ),
    "an access pattern": (
        made("nisa.tensor_copy(dst=r, src=a.ap([[24, 64], [2, 12]], offset=1))", "(64, 12)"),
        lambda g: g.a[:, 1::2],
    ),
    "overlapping rows of HBM": (
        made("nisa.dma_copy(dst=r, src=x.ap([[24, 62], [24, 3], [1, 24]]))", "(62, 3, 24)"),
        lambda g: np.stack([g.a[k : k + 62] for k in range(3)], 1),
    ),
    "rows that a tile names": (
        made("nisa.dma_copy(dst=r, src=x.ap([[24, 64], [1, 24]], vector_offset=i[0:64, 0:1]))"
             .replace("[[24, 64], [1, 24]]", "[[0, 64], [1, 24]]")),
        lambda g: g.a[g.i[:, 0]],
    ),
    "permute": (
        "v = a.reshape((64, 4, 6)).permute((0, 2, 1))\n"
        + made("nisa.tensor_copy(dst=r, src=v)", "(64, 6, 4)"),
        lambda g: g.a.reshape(64, 4, 6).transpose(0, 2, 1),
    ),
    "fori_loop": (
        made("nisa.memset(dst=r, value=0.0)\n"
             "def step(k):\n"
             "    nisa.tensor_tensor(dst=r, data1=r, data2=a, op=nl.add)\n"
             "nl.fori_loop(0, 3, step)"),
        lambda g: 3 * g.a,
    ),
    "registers": (
        "reg = nisa.register_alloc(1)\n"
        "nisa.register_load(reg, i[0:1, 0:1])\n"
        + made("nisa.tensor_copy(dst=r, src=a.ap([[24, 64], [1, 4]], scalar_offset=reg,"
               " indirect_dim=1))", "(64, 4)"),
        lambda g: g.a[:, g.i[0, 0] : g.i[0, 0] + 4],
    ),
    "dropout": (made("nisa.dropout(dst=r, data=a, prob=1.0)"), lambda g: 0 * g.a),
    "local_gather": (
        "u = nl.ndarray((64, 2), dtype=nl.uint16, buffer=nl.sbuf)\n"
        "nisa.tensor_copy(dst=u, src=i[0:64, 0:2])\n"
        + made("nisa.local_gather(dst=r, src_buffer=a, index=u)", "(64, 32)"),
        shared_lists,
    ),
    "nc_find_index8": (
        LARGEST + made("nisa.nc_find_index8(dst=r, data=a, vals=v)", "(64, 8)", "nl.uint32"),
        lambda g: np.argsort(-g.a, axis=1)[:, :8],
    ),
    "nc_match_replace8": (
        LARGEST + made("nisa.nc_match_replace8(dst=r, data=a, vals=v, imm=-1.0)"), replaced,
    ),
    "nc_stream_shuffle": (
        made("nisa.tensor_copy(dst=r, src=b)\n"
             "nisa.nc_stream_shuffle(src=a, dst=r, shuffle_mask=[1, 0] + [255] * 30)"),
        lambda g: np.concatenate(
            [np.concatenate([g.a[s : s + 2][::-1], g.b[s + 2 : s + 32]]) for s in (0, 32)]
        ),
    ),
    "register_move": (
        "s, q = nisa.register_alloc(3), nisa.register_alloc()\nnisa.register_move(q, s)\n"
        + made("nisa.register_store(r, q)", "(64, 24)", "nl.int32"),
        lambda _g: np.full((64, 24), 3),
    ),
    "select_reduce": (
        CHOSEN + made("nisa.select_reduce(dst=r, predicate=u, on_true=a, on_false=-3.0)"),
        lambda g: np.where(g.i >= 8, g.a, -3),
    ),
    "sequence_bounds": (
        "s = nl.ndarray((1, 24), dtype=nl.float32, buffer=nl.sbuf)\n"
        "nisa.memset(dst=s, value=1.0)\nnisa.memset(dst=s[0:1, 8:24], value=2.0)\n"
        + made("nisa.sequence_bounds(dst=r, segment_ids=s)", "(1, 2, 24)"),
        lambda _g: np.array([[[0] * 8 + [8] * 16, [8] * 8 + [24] * 16]]),
    ),
    "tensor_copy_predicated": (
        CHOSEN
        + made("nisa.tensor_copy(dst=r, src=b)\n"
               "nisa.tensor_copy_predicated(src=a, dst=r, predicate=u)"),
        lambda g: np.where(g.i >= 8, g.a, g.b),
    ),
    "tensor_partition_reduce": (
        made("nisa.tensor_partition_reduce(dst=r, op=nl.add, data=a)", "(1, 24)"),
        lambda g: g.a.sum(0, keepdims=True),
    ),
    "tensor_scalar_reduce": (
        f"s = {TILE}\n"
        + made("nisa.tensor_scalar_reduce(dst=s, data=a, op0=nl.multiply, operand0=2.0,"
               " reduce_op=nl.add, reduce_res=r)", ROW),
        lambda g: 2 * g.a.sum(1, keepdims=True),
    ),
}  # fmt: skip
