"""Corners of the language that published kernels stand in; kernels as those of ``kernels``."""

import numpy as np

from tests.conformance.kernels import stats


def below(g):
    """The elements under a mask that is no rectangle."""
    return np.add.outer(np.arange(64), np.arange(24)) < 60


SUMS = "r = nl.zeros((64, 1), dtype=nl.float32)\n"
CORNERS = {
    "an axis of a grid that no index runs along": (
        "p, _, f = nl.mgrid[0:64, 0:1, 0:24]\nr = nl.add(a[p, f], b)",
        lambda g: g.a + g.b,
    ),
    "an axis of a grid along which an index runs": (
        "p, q, f = nl.mgrid[0:64, 0:1, 0:24]\nr = nl.copy(a[p, f + q])",
        lambda g: g.a[:, None],
    ),
    "an axis that is written out stays": (
        "p, f = nl.arange(64)[:, None, None], nl.arange(24)[None, None, :]\nr = nl.copy(a[p, f])",
        lambda g: g.a[:, None],
    ),
    "a column by the partitions of a grid": (
        "p, _ = nl.mgrid[0:64, 0:1]\nr = nl.add(a[p, 3], nl.load(x[p, 5]))",
        lambda g: g.a[:, 3:4] + g.a[:, 5:6],
    ),
    "a row by a later axis of a grid": (
        (
            "p, q, f = nl.mgrid[0:64, 0:1, 0:24]\n"
            "u = nl.load(x[q + 2, f])\nassert u.shape == (1, 24)\n"
            "r = nl.multiply(a[p, f], u.broadcast_to((64, 24)))"
        ),
        lambda g: g.a * g.a[2:3],
    ),
    "a row by the last axis of a grid": (
        (
            "p, f, q = nl.mgrid[0:64, 0:24, 0:1]\n"
            "r = nl.multiply(a[p, f], nl.load(x[q, f]).broadcast_to((64, 24)))"
        ),
        lambda g: g.a * g.a[:1],
    ),
    "a window that begins before its tile": (
        (
            "k, l = nl.arange(24)[None, :, None], nl.arange(3)[None, None, :]\n"
            "r = nl.max(a[nl.arange(64)[:, None, None], k + l - 1], axis=2,\n"
            "           mask=(k + l - 1 >= 0) & (k + l - 1 < 24))"
        ),
        lambda g: np.max([np.pad(g.a, ((0, 0), (1, 1)))[:, s : s + 24] for s in range(3)], 0),
    ),
    "a result into a place of one more dimension": (
        (
            "p, _, q = nl.mgrid[0:64, 0:24, 0:1]\nk, l = nl.mgrid[0:24, 0:6]\n"
            "r = nl.zeros((64, 6), dtype=nl.float32)\nr[p, l] = nisa.bn_stats(a[p, k])"
        ),
        lambda g: stats(g.a),
    ),
    "the partitions of a grid stay": (
        "p, f, _ = nl.mgrid[0:1, 0:24, 0:1]\nr = nl.multiply(a, b[p, f])",
        lambda g: g.a * g.b[:1],
    ),
    "a mask over a grid with an unused axis": (
        (
            "p, _, f = nl.mgrid[0:64, 0:1, 0:24]\nr = nl.zeros((64, 24), dtype=nl.float32)\n"
            "r[p, f] = nl.load(x[p, f + 8], mask=(f + 8 < 24) & (p >= 10))"
        ),
        lambda g: np.pad(g.a[10:, 8:], ((10, 0), (0, 8))),
    ),
    "a slanted mask over a grid with an unused axis": (
        (
            "p, _, f = nl.mgrid[0:64, 0:1, 0:24]\nr = nl.zeros((64, 24), dtype=nl.float32)\n"
            "r[p, f] = nl.load(x[p, f], mask=p + f < 60)"
        ),
        lambda g: np.where(below(g), g.a, 0),
    ),
    "ones at the end before a broadcast": (
        "r = nl.add(a, c.reshape((64, 1, 1)).broadcast_to((64, 24)))",
        lambda g: g.a + g.c,
    ),
    "ones at the end before a broadcast over partitions": (
        "r = nl.copy(a[0:1, 0:24].reshape((1, 24, 1)).broadcast_to((64, 24)))",
        lambda g: np.broadcast_to(g.a[:1], g.a.shape),
    ),
    "a shape by its name": (
        "r = nl.copy(a.reshape(shape=(64, 4, 6)))",
        lambda g: g.a.reshape(64, 4, 6),
    ),
    "a shape of an input by its name": (
        "r = nl.load(x.reshape(shape=(32, 48)))",
        lambda g: g.a.reshape(32, 48),
    ),
    "a range as Python has it": (
        (
            "k = range(2, 24, 3)\nassert (len(k), k[1], k.stop, 8 in k) == (8, 5, 24, True)\n"
            "r = nl.zeros((64, 8), dtype=nl.float32)\n"
            "for l, m in enumerate(reversed(k)):\n    r[0:64, l] = nl.copy(a[0:64, m])\n"
            "for l, m in zip(range(3), k[:3]):\n    r[0:64, l] = nl.copy(b[0:64, m])"
        ),
        lambda g: np.concatenate([g.b[:, 2:11:3], g.a[:, 2::3][:, ::-1][:, 3:]], 1),
    ),
    "tensors as annotations": (
        "from neuronxcc.nki.typing import tensor\nr: tensor[64, 24] = nl.copy(a)",
        lambda g: g.a,
    ),
    "a sum under a slanted mask": (
        "r = nl.sum(a, axis=1, mask=P + F < 60)[0:60]",
        lambda g: np.where(below(g), g.a, 0).sum(1)[:60, None],
    ),
}
for name, run, start in (
    ("max", np.max, -np.inf), ("min", np.min, np.inf), ("prod", np.prod, 1.0),
):  # fmt: skip
    CORNERS[f"a {name} under a slanted mask"] = (
        f"r = nl.{name}(a, axis=1, mask=P + F < 60, keepdims=True)[0:60, 0:1]",
        lambda g, run=run, start=start: run(np.where(below(g), g.a, start), 1)[:60, None],
    )
CORNERS |= {
    "a mean under a slanted mask": (
        "r = nl.mean(a, axis=1, mask=P + F < 60)[0:60, 0:1]",
        lambda g: np.array(
            [[row[keep].mean()] for row, keep in zip(g.a[:60], below(g)[:60], strict=True)]
        ),
    ),
    "a variance under a slanted mask": (
        "r = nl.var(a, axis=1, mask=P + F < 60)[0:60, 0:1]",
        lambda g: np.array(
            [[row[keep].var()] for row, keep in zip(g.a[:60], below(g)[:60], strict=True)]
        ),
    ),
    "bits of tiles": (
        "r = nisa.tensor_tensor(i, j, op=nl.bitwise_xor)",
        lambda g: g.i ^ g.j,
    ),
    "bits by a number": (
        "r = nisa.tensor_scalar(i, op0=nl.left_shift, operand0=3)",
        lambda g: g.i << 3,
    ),
    "bits under a slanted mask": (
        "r = nisa.tensor_reduce(nl.bitwise_or, i, axis=1, mask=P + F < 60)[0:60, 0:1]",
        lambda g: np.bitwise_or.reduce(np.where(below(g), g.i, 0), 1)[:60, None],
    ),
    "a reduction under a mask of an axis that stays": (
        (
            "p, f, q = nl.mgrid[0:64, 0:4, 0:6]\nr = nl.zeros((64, 4), dtype=nl.float32)\n"
            "s = nl.sum(a.reshape((64, 4, 6)), axis=2, mask=(f < 3) & (q < 5))\n"
            "r[0:64, 0:3] = nl.copy(s[0:64, 0:3])"
        ),
        lambda g: np.pad(g.a.reshape(64, 4, 6)[:, :3, :5].sum(2), ((0, 0), (0, 1))),
    ),
    "a transpose under a mask of its source": (
        (
            "r = nl.zeros((24, 64), dtype=nl.float32)\n"
            "r[nl.arange(24)[:, None], nl.arange(64)[None, :]] = nisa.nc_transpose(\n"
            "    a, mask=(P < 40) & (F < 20))"
        ),
        lambda g: np.pad(g.a[:40, :20].T, ((0, 4), (0, 24))),
    ),
    "a transposing load under a mask of its source": (
        (
            "r = nl.zeros((24, 64), dtype=nl.float32)\n"
            "r[nl.arange(24)[:, None], nl.arange(64)[None, :]] = nl.load_transpose2d(\n"
            "    x[P, F + 4], mask=F + 4 < 24)"
        ),
        lambda g: np.pad(g.a[:, 4:].T, ((0, 4), (0, 0))),
    ),
    "what is moved by the tensor engine keeps apart": (
        (
            "u = nl.load(x[P, F], mask=P < 40)\n"
            "r = nl.copy(nisa.nc_matmul(u, nl.load(nl.shared_identity_matrix(64, nl.float32)),"
            " is_transpose=True))[0:24, 0:40]"
        ),
        lambda g: g.a[:40].T,
    ),
    "operands under masks of their own": (
        (
            "p = nl.zeros((24, 24), dtype=nl.float32, buffer=nl.psum)\n"
            "p[nl.arange(24)[:, None], F] += nisa.nc_matmul(a[F < 20][P < 40], b[F >= 3][True])\n"
            "r = nl.copy(p)"
        ),
        lambda g: np.pad(g.a[:40, :20].T @ g.b[:40, 3:], ((0, 4), (3, 0))),
    ),
    "an operand that a mask leaves nothing of": (
        (
            "p = nl.zeros((24, 24), dtype=nl.float32, buffer=nl.psum)\n"
            "for k in nl.affine_range(3):\n"
            "    p += nisa.nc_matmul(a[k < 2], b)\n"
            "r = nl.copy(p)"
        ),
        lambda g: 2 * g.a.T @ g.b,
    ),
    "an operand beyond its tensor under a mask": (
        (
            "k = nl.arange(24)[:, None]\n"
            "p = nl.zeros((24, 24), dtype=nl.float32, buffer=nl.psum)\n"
            "p[k, F] += nl.matmul(a[P, F], b[P, F + 4][F + 4 < 24], transpose_x=True)\n"
            "q = nl.zeros((64, 8), dtype=nl.float32, buffer=nl.psum)\n"
            "q[P, nl.arange(8)[None, :]] += nl.matmul(a[P < 40], b[0:24, 0:8])\n"
            "r = nl.add(nl.copy(p), nl.copy(q)[0:24, 0:1])"
        ),
        lambda g: np.pad(g.a.T @ g.b[:, 4:], ((0, 0), (0, 4))) + (g.a @ g.b[:24])[:24, :1],
    ),
    "rows that a tile names, of three dimensions": (
        (
            "h = x.reshape((64, 4, 6))\n"
            "r = nl.load(h[i[P, 0], nl.arange(4)[None, :, None], nl.arange(6)[None, None, :]])"
        ),
        lambda g: g.a.reshape(64, 4, 6)[g.i[:, 0]],
    ),
    "a softmax under a mask": (
        "r = nl.zeros((64, 24), dtype=nl.float32)\nr[P, F] = nl.softmax(a, axis=1, mask=F < 9)",
        lambda g: np.pad(
            np.exp(g.a[:, :9]) / np.exp(g.a[:, :9]).sum(1, keepdims=True), ((0, 0), (0, 15))
        ),
    ),
    "statistics under a mask": (
        "r = nisa.bn_aggr(nisa.bn_stats(a, mask=(F < 10) & (P < 32)))[0:32, 0:2]",
        lambda g: np.stack([g.a[:32, :10].mean(1), g.a[:32, :10].var(1)], 1),
    ),
    "an activation's sum under a mask": (
        (
            SUMS + "s = nisa.activation_reduce(nl.exp, a, reduce_op=nl.add, reduce_res=r,"
            " mask=F < 7)"
        ),
        lambda g: np.exp(g.a[:, :7]).sum(1, keepdims=True),
    ),
    "a scalar's sum under a mask": (
        (
            SUMS + "r[...] = 3.0\nnisa.tensor_scalar_reduce(data=a, op0=nl.multiply, operand0=2.0,"
            " reduce_op=nl.add, reduce_res=r, mask=(F < 7) & (P < 32))"
        ),
        lambda g: np.where(np.arange(64) < 32, 2 * g.a[:, :7].sum(1), 3)[:, None],
    ),
}
