"""What the language has beside operations: memory, indices, masks, loops, grids, constants.

The kernels are as those of ``kernels``: inputs ``a``, ``b``, ``i``, ``j``, ``c``, ``x``; result
``r``.
"""

import ml_dtypes
import numpy as np

FULL = (64, 24)
CONSTRUCTS = {
    "ndarray": ("r = nl.ndarray((64, 24), dtype=nl.float32)\nr[...] = a", lambda g: g.a),
    "zeros": ("r = nl.zeros((64, 24), dtype=nl.float32)", lambda _g: np.zeros(FULL)),
    "ones": ("r = nl.ones((64, 24), dtype=nl.bfloat16)", lambda _g: np.ones(FULL)),
    "full": ("r = nl.full((64, 24), 2.5, dtype=nl.float32)", lambda _g: np.full(FULL, 2.5)),
    "zeros_like": ("r = nl.zeros_like(a)", lambda _g: np.zeros(FULL)),
    "empty_like": ("r = nl.empty_like(a)\nr[...] = b", lambda g: g.b),
    "expand_dims": ("r = nl.copy(nl.expand_dims(a, 2))", lambda g: g.a[:, :, None]),
    "rand": ("r = nl.greater_equal(nl.rand((64, 24)), 0.0)", lambda _g: np.ones(FULL)),
    "random_seed": ("nl.random_seed(7)\nr = nl.copy(a)", lambda g: g.a),
    "shared_constant": (
        "r = nl.load(nl.shared_constant([[1.0, 2.0], [3.0, 4.0]], dtype=nl.float32))",
        lambda _g: np.array([[1, 2], [3, 4]]),
    ),
    "shared_identity_matrix": (
        "r = nl.load(nl.shared_identity_matrix(8, dtype=nl.float32))",
        lambda _g: np.eye(8),
    ),
    "static_cast": (
        "r = nl.add(a, nl.static_cast(2.7, nl.int32))",
        lambda g: g.a + 2,
    ),
    "finfo": (
        "r = nl.full((64, 24), nl.finfo(nl.bfloat16).max, dtype=nl.bfloat16)",
        lambda _g: np.full(FULL, 3.3895313892515355e38),
    ),
    "device_print": ("nl.device_print('a', a)\nr = nl.copy(a)", lambda g: g.a),
    "arange": (
        "r = nl.copy(a[nl.arange(64)[:, None], 2 * nl.arange(12)[None, :] + 1])",
        lambda g: g.a[:, 1::2],
    ),
    "mgrid": ("k, l = nl.mgrid[0:64, 0:8]\nr = nl.load(x[k, l + 4])", lambda g: g.a[:, 4:12]),
    "ds": ("r = nl.load(x[nl.ds(32, 32), nl.ds(4, 8)])", lambda g: g.a[32:, 4:12]),
    "par_dim": (
        (
            "v = nl.ndarray((2, nl.par_dim(64), 24), dtype=nl.float32)\n"
            "v[0], v[1] = a, b\n"
            "r = nl.add(v[0], v[1])"
        ),
        lambda g: g.a + g.b,
    ),
    "affine_range": (
        (
            "r = nl.ndarray((64, 24), dtype=nl.float32)\n"
            "for k in nl.affine_range(3):\n"
            "    r[P, k * 8 + nl.arange(8)[None, :]] = nl.exp(a[P, k * 8 + nl.arange(8)[None, :]])"
        ),
        lambda g: np.exp(g.a),
    ),
    "sequential_range": (
        (
            "r = nl.zeros((64, 1), dtype=nl.float32)\n"
            "for k in nl.sequential_range(24):\n"
            "    r[...] = nl.add(nl.multiply(r, 0.5), a[P, nl.arange(1)[None, :] + k])"
        ),
        lambda g: (g.a * 0.5 ** np.arange(23, -1, -1)).sum(1, keepdims=True),
    ),
    "static_range": (
        "r = nl.copy(a)\nfor k in nl.static_range(2):\n    r = nl.add(r, b)",
        lambda g: g.a + 2 * g.b,
    ),
    "loop_reduce": (
        (
            "for k in nl.affine_range(3):\n"
            "    part = a[P, k * 8 + nl.arange(8)[None, :]]\n"
            "    r = nl.loop_reduce(part, op=np.add, loop_indices=[k])"
        ),
        lambda g: g.a.reshape(64, 3, 8).sum(1),
    ),
    "a reduction over an outer loop": (
        (
            "r = nl.zeros((64, 24), dtype=nl.float32)\n"
            "for k in nl.affine_range(3):\n"
            "    for l in nl.affine_range(2):\n"
            "        part = nl.multiply(a[0:64, nl.ds(l * 12, 12)], b[0:64, nl.ds(k, 1)])\n"
            "        r[0:64, nl.ds(l * 12, 12)] = nl.loop_reduce(part, np.add, loop_indices=(k,))"
        ),
        lambda g: g.a * g.b[:, :3].sum(1, keepdims=True),
    ),
    "a reduction over loops with others between": (
        (
            "v = nl.ndarray((2, nl.par_dim(64), 1), dtype=nl.float32)\n"
            "for k in nl.affine_range(3):\n"
            "    for m in nl.affine_range(2):\n"
            "        for l in nl.affine_range(4):\n"
            "            column = a[0:64, nl.ds(k * 8 + l * 2 + m, 1)]\n"
            "            part = nl.max(column, axis=1, keepdims=True)\n"
            "            v[m] = nl.loop_reduce(part, op=np.max, loop_indices=[l, k])\n"
            "r = nl.subtract(v[0], v[1])"
        ),
        lambda g: g.a[:, 0::2].max(1, keepdims=True) - g.a[:, 1::2].max(1, keepdims=True),
    ),
    "a transposed result as an operand": (
        "r = nl.copy(nisa.nc_matmul(nisa.nc_transpose(a), b[0:24, 0:8]))",
        lambda g: g.a @ g.b[:24, :8],
    ),
    "a column by its number": (
        "r = nl.add(nl.load(x[0:64, 3]), a[0:64, 4])",
        lambda g: g.a[:, 3:4] + g.a[:, 4:5],
    ),
    "atomic_rmw": (
        (
            "h = nl.ndarray((16, 24), dtype=nl.float32, buffer=nl.private_hbm)\n"
            "nl.store(h, nl.zeros((16, 24), dtype=nl.float32))\n"
            "nl.atomic_rmw(h[i[P, nl.arange(1)[None, :]], F], value=a, op=np.add)\n"
            "r = nl.load(h)"
        ),
        lambda g: np.stack([g.a[g.i[:, 0] == k].sum(0) for k in range(16)]),
    ),
    "program_id": ("r = nl.add(a, nl.program_id(0))", lambda g: g.a),
    "num_programs": ("r = nl.add(a, nl.num_programs())", lambda g: g.a + 1),
    "program_ndim": ("r = nl.add(a, nl.program_ndim())", lambda g: g.a),
    "nc": ("r = nl.add(a, nl.nc(2))", lambda g: g.a + 2),
    "spmd_dim": ("r = nl.add(a, nl.spmd_dim(nl.nc(2), 3))", lambda g: g.a + 6),
    "gemm_grid": (
        "k = nl.gemm_grid()\nr = nisa.iota(k[0] + k[1], dtype=nl.int32)",
        lambda _g: np.add.outer(np.arange(128), np.arange(512)),
    ),
    "gemm_stationary_grid": (
        "k = nl.gemm_stationary_grid()\nr = nisa.iota(k[0] + k[1], dtype=nl.int32)",
        lambda _g: np.add.outer(np.arange(128), np.arange(128)),
    ),
    "tile_size": ("r = nl.add(a, nl.tile_size.pmax)", lambda g: g.a + 128),
    "bfp16": ("r = nl.maximum(a, nl.bfp16.min)", lambda g: g.a),
    "fp32": ("r = nl.maximum(a, nl.fp32.min)", lambda g: g.a),
    "sbuf": ("r = nl.zeros((64, 24), nl.float32, buffer=nl.sbuf)", lambda _g: np.zeros(FULL)),
    "psum": (
        (
            "p = nl.zeros((24, 24), dtype=nl.float32, buffer=nl.psum)\n"
            "for k in nl.affine_range(2):\n"
            "    p += nisa.nc_matmul(a[nl.ds(k * 32, 32)], b[nl.ds(k * 32, 32)])\n"
            "r = nl.copy(p)"
        ),
        lambda g: g.a.T @ g.b,
    ),
    "hbm": (
        "h = nl.ndarray((64, 24), nl.float32, buffer=nl.hbm)\nnl.store(h, a)\nr = nl.load(h)",
        lambda g: g.a,
    ),
    "private_hbm": (
        (
            "h = nl.ndarray((64, 24), nl.float32, buffer=nl.private_hbm)\n"
            "nl.store(h, b)\nr = nl.load(h)"
        ),
        lambda g: g.b,
    ),
    "shared_hbm": ("assert nl.shared_hbm\nr = nl.copy(a)", lambda g: g.a),
    "mask": (
        (
            "r = nl.zeros((64, 24), dtype=nl.float32)\n"
            "r[P, F] = nl.load(x[P, F + 8], mask=(F + 8 < 24) & (P >= 10))"
        ),
        lambda g: np.pad(g.a[10:, 8:], ((10, 0), (0, 8))),
    ),
    "an indirect load": (
        "r = nl.load(x[i[P, nl.arange(1)[None, :]], F])",
        lambda g: g.a[g.i[:, 0]],
    ),
    "a cast on load": ("r = nl.load(x, dtype=nl.float16)", lambda g: g.a.astype(np.float16)),
    "rounding to even": (
        "r = nl.copy(nl.add(i, 0.5), dtype=nl.int32)",
        lambda g: np.rint(g.i + 0.5),
    ),
    "saturation": (
        "r = nl.copy(nl.multiply(i, -1000.0), dtype=nl.int8)",
        lambda g: np.maximum(g.i * -1000.0, -128),
    ),
    "bfloat16 rounds": (
        (
            "r = nl.copy(nl.add(nl.full((64, 24), 256.0, dtype=nl.bfloat16), 1.0,"
            " dtype=nl.bfloat16), dtype=nl.float32)"
        ),
        lambda _g: np.full(FULL, 256),
    ),
    **{
        f"the type {name}": (
            f"r = nl.copy(nl.copy(nl.multiply(a, 100.0), dtype=nl.{name}), dtype=nl.float32)",
            lambda g, kind=kind: (np.float32(100) * g.a).astype(kind),
        )
        for name, kind in {
            "float8_e4m3": ml_dtypes.float8_e4m3,
            "float8_e5m2": ml_dtypes.float8_e5m2,
            "float16": np.float16,
            "tfloat32": np.float32,
            "bool_": np.bool_,
        }.items()
    },
    **{
        f"the type {name}": (
            f"r = nl.copy(nl.copy(nl.multiply(a, 90.0), dtype=nl.{name}), dtype=nl.float32)",
            lambda g: np.rint(np.float32(90) * g.a),
        )
        for name in ("int16", "int32", "uint8", "uint16", "uint32")
    },
    "engines": (
        (
            "u = nisa.tensor_copy(a, engine=nisa.vector_engine)\n"
            "u = nisa.tensor_copy(u, engine=nisa.scalar_engine)\n"
            "u = nisa.tensor_copy(u, engine=nisa.gpsimd_engine)\n"
            "u = nisa.tensor_copy(u, engine=nisa.engine.vector)\n"
            "v = nl.copy(nisa.nc_transpose(u, engine=nisa.tensor_engine))\n"
            "r = nl.copy(nisa.nc_transpose(v, engine=nisa.unknown_engine))"
        ),
        lambda g: g.a,
    ),
    "the chip's generation": (
        "r = nl.add(a, 1.0 if nisa.get_nc_version() == nisa.nc_version.gen2 else 2.0)",
        lambda g: g.a + 1,
    ),
    "sums over instructions": (
        (
            "r = nl.ndarray((64, 1), dtype=nl.float32)\n"
            "for k, cmd in enumerate((nisa.reduce_cmd.reset_reduce, nisa.reduce_cmd.reduce)):\n"
            "    u = nisa.activation(nl.exp, a, reduce_op=nl.add, reduce_res=r, reduce_cmd=cmd)"
        ),
        lambda g: 2 * np.exp(g.a).sum(1, keepdims=True),
    ),
    "how a copy is carried out": (
        (
            "r = nl.ndarray((64, 24), dtype=nl.float32)\n"
            "nisa.dma_copy(dst=r, src=x, dge_mode=nisa.dge_mode.none,\n"
            "              oob_mode=nisa.oob_mode.error)"
        ),
        lambda g: g.a,
    ),
    "operators": ("r = -(a + b) * 2.0 - a / b", lambda g: -(g.a + g.b) * 2 - g.a / g.b),
}
