"""x @ w.T through nl.matmul, with the transposes on the chip and ragged edges."""

import math

import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
from neuronxcc import nki


@nki.jit
def linear_kernel(x, w):
    rows, depth = x.shape
    cols, _ = w.shape
    out = nl.ndarray((rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(math.ceil(rows / 128)):
        for n in nl.affine_range(math.ceil(cols / 128)):
            acc = nl.zeros((128, 128), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(math.ceil(depth / 128)):
                i = nl.mgrid[0:128, 0:128]
                left = nl.zeros((128, 128), dtype=x.dtype)
                right = nl.zeros((128, 128), dtype=x.dtype)
                inside_x = (m * 128 + i.p < rows) & (k * 128 + i.x < depth)
                inside_w = (n * 128 + i.p < cols) & (k * 128 + i.x < depth)
                left[i.p, i.x] = nl.load(x[m * 128 + i.p, k * 128 + i.x], mask=inside_x)
                right[i.p, i.x] = nl.load(w[n * 128 + i.p, k * 128 + i.x], mask=inside_w)
                right_t = nl.copy(nisa.nc_transpose(right))
                left_t = nisa.tensor_copy(nisa.nc_transpose(left))
                acc += nl.matmul(left_t, right_t, transpose_x=True)
            o = nl.mgrid[0:128, 0:128]
            nl.store(
                out[m * 128 + o.p, n * 128 + o.x],
                value=acc,
                mask=(m * 128 + o.p < rows) & (n * 128 + o.x < cols),
            )
    return out
