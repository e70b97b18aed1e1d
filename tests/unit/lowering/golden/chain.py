"""chain: NKI kernels lowered from the captured graph."""

import math

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def tanh_2_kernel(x, scale, shift):
    """Compute tanh_2: mul, add, tanh."""
    rows, cols = x.shape
    out = nl.ndarray((rows, cols), dtype=nl.float32, buffer=nl.shared_hbm)

    # A tile has as many rows as there are partitions; the last one is masked.
    P = nl.tile_size.pmax
    # A whole row stays in SBUF: at most 3 fp32 tiles of this width are alive, twice over, which
    # fits up to 7509 columns.
    i_p = nl.arange(P)[:, None]
    i_f = nl.arange(cols)[None, :]
    i_p1 = nl.arange(1)[:, None]
    i_f1 = nl.arange(1)[None, :]
    scale_tile_row = nl.load(scale[i_p1, i_f])
    scale_tile = nl.broadcast_to(scale_tile_row, shape=(P, cols))

    for r in nl.affine_range(math.ceil(rows / P)):
        row = r * P + i_p
        x_tile = nl.load(x[row, i_f], mask=row < rows)
        mul_0 = nl.multiply(x_tile, scale_tile)
        shift_tile = nl.load(shift[row, i_f1], mask=row < rows)
        tanh_2 = nisa.activation(op=nl.tanh, data=mul_0, bias=shift_tile)
        nl.store(out[row, i_f], tanh_2, mask=row < rows)
    return out


def forward(x, scale, shift):
    """Launch the kernels; the parameters are the inputs in call order."""
    tanh_2 = tanh_2_kernel(x, scale.reshape((1, scale.shape[0])), shift)
    return tanh_2
