"""Softmax of rows, the last tile masked."""

import math

import neuronxcc.nki.language as nl
from neuronxcc import nki


@nki.jit
def softmax_kernel(x):
    rows, cols = x.shape
    out = nl.ndarray((rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(nl.tile_size.pmax)[:, None]
    i_f = nl.arange(cols)[None, :]
    for t in nl.affine_range(math.ceil(rows / nl.tile_size.pmax)):
        row = t * nl.tile_size.pmax + i_p
        tile = nl.load(x[row, i_f], mask=(row < rows))
        top = nl.max(tile, axis=[1], keepdims=True, mask=(row < rows))
        powers = nl.exp(nl.subtract(tile, top), mask=(row < rows))
        total = nl.sum(powers, axis=[1], keepdims=True, mask=(row < rows))
        nl.store(out[row, i_f], value=powers / total, mask=(row < rows))
    return out
