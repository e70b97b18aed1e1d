"""(a, b) pairs swapped inside each row by strided free-dimension views; a gather of rows."""

import neuronxcc.nki.language as nl
from neuronxcc import nki


@nki.jit
def swap_kernel(x, rows):
    n, cols = x.shape
    out = nl.ndarray((n, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    picked = nl.ndarray((rows.shape[0], cols), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    swapped = nl.ndarray((n, cols), dtype=x.dtype, buffer=nl.sbuf)
    i_p = nl.arange(n)[:, None]
    i_h = nl.arange(cols // 2)[None, :]
    swapped[i_p, 2 * i_h] = nl.copy(tile[i_p, 2 * i_h + 1])
    swapped[i_p, 2 * i_h + 1] = nl.copy(tile[i_p, 2 * i_h])
    nl.store(out, swapped)
    i_r = nl.arange(rows.shape[0])[:, None]
    which = nl.load(rows[i_r])
    gathered = nl.load(x[which[i_r, 0], nl.arange(cols)[None, :]])
    nl.store(picked, gathered)
    return out, picked
