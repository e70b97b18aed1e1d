"""Tiled matmul with bias and relu, accumulating over K in PSUM, blocks of the left side hoisted."""

import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
from neuronxcc import nki

TILE_M, TILE_K, TILE_N = 128, 128, 512


@nki.jit
def matmul_kernel(lhs_t, rhs, bias):
    depth, rows = lhs_t.shape
    _, cols = rhs.shape
    out = nl.ndarray((rows, cols), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    bias_tile = nl.load(bias.reshape((1, cols)))
    for m in nl.affine_range(rows // TILE_M):
        left = nl.ndarray(
            (depth // TILE_K, nl.par_dim(TILE_K), TILE_M), dtype=lhs_t.dtype, buffer=nl.sbuf
        )
        for k in nl.affine_range(depth // TILE_K):
            i_k = nl.mgrid[0:TILE_K, 0:TILE_M]
            left[k, i_k.p, i_k.x] = nl.load(lhs_t[k * TILE_K + i_k.p, m * TILE_M + i_k.x])
        for n in nl.affine_range(cols // TILE_N):
            acc = nl.zeros((nl.par_dim(TILE_M), TILE_N), nl.float32, buffer=nl.psum)
            for k in nl.affine_range(depth // TILE_K):
                i_r = nl.mgrid[0:TILE_K, 0:TILE_N]
                right = nl.load(rhs[k * TILE_K + i_r.p, n * TILE_N + i_r.x])
                acc[...] += nisa.nc_matmul(left[k], right)
            shifted = nl.add(acc, bias_tile[:, nl.ds(n * TILE_N, TILE_N)])
            result = nl.relu(shifted, dtype=out.dtype)
            nl.store(
                out[m * TILE_M : (m + 1) * TILE_M, n * TILE_N : (n + 1) * TILE_N], value=result
            )
    return out
