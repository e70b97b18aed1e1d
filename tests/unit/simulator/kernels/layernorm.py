"""LayerNorm with bn_stats and bn_aggr, the row cut into pieces that bn_stats takes."""

import math

import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
from neuronxcc import nki


@nki.jit
def layernorm_kernel(x, gamma, beta):
    rows, cols = x.shape
    piece = math.gcd(nl.tile_size.bn_stats_fmax, cols)
    pieces = cols // piece
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(128)[:, None]
    i_f = nl.arange(cols)[None, :]
    i_0 = nl.arange(1)[:, None]
    g = nl.load(gamma.reshape((1, cols))[i_0, i_f]).broadcast_to((128, cols))
    b = nl.load(beta.reshape((1, cols))[i_0, i_f]).broadcast_to((128, cols))
    for t in nl.affine_range(math.ceil(rows / 128)):
        tile = nl.load(x[t * 128 + i_p, i_f], mask=(t * 128 + i_p < rows))
        stats = nl.ndarray((128, pieces * 6), dtype=nl.float32)
        for k in nl.affine_range(pieces):
            i_k = nl.arange(piece)[None, :]
            i_s = nl.arange(6)[None, :]
            stats[i_p, k * 6 + i_s] = nisa.bn_stats(tile[i_p, k * piece + i_k], dtype=nl.float32)
        both = nisa.bn_aggr(stats)
        shift = nisa.tensor_scalar(
            tile, op0=nl.subtract, operand0=both[i_p, nl.arange(1)[None, :]], dtype=nl.float32
        )
        scale = nl.rsqrt(both[:, 1:2] + 1e-5)
        result = nl.multiply(shift, scale) * g + b
        nl.store(out[t * 128 + i_p, i_f], result, mask=(t * 128 + i_p < rows))
    return out
