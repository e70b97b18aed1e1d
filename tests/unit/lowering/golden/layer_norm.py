"""layer_norm: NKI kernels lowered from the captured graph."""

import math

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def layer_norm_0_kernel(x, weight, bias):
    """Compute layer_norm_0: mean, sub, square, add, rsqrt, mul, ...."""
    rows, cols = x.shape
    out = nl.ndarray((rows, cols), dtype=nl.float32, buffer=nl.shared_hbm)

    # A tile has as many rows as there are partitions; the last one is masked.
    P = nl.tile_size.pmax
    # A whole row stays in SBUF: at most 4 fp32 tiles of this width are alive, twice over, which
    # fits up to 5632 columns.
    i_p = nl.arange(P)[:, None]
    i_f = nl.arange(cols)[None, :]
    i_p1 = nl.arange(1)[:, None]
    weight_tile_row = nl.load(weight[i_p1, i_f])
    weight_tile = nl.broadcast_to(weight_tile_row, shape=(P, cols))
    bias_tile_row = nl.load(bias[i_p1, i_f])
    bias_tile = nl.broadcast_to(bias_tile_row, shape=(P, cols))

    for r in nl.affine_range(math.ceil(rows / P)):
        row = r * P + i_p
        x_tile = nl.load(x[row, i_f], mask=row < rows)
        layer_norm_0_mean = nl.multiply(nl.sum(x_tile, axis=1, keepdims=True), 1.0 / cols)
        layer_norm_0_centred = nisa.tensor_scalar(
            x_tile, op0=nl.subtract, operand0=layer_norm_0_mean
        )
        layer_norm_0_var_total = nl.ndarray((P, 1), dtype=nl.float32)
        layer_norm_0_square = nisa.activation_reduce(
            op=nl.square,
            data=layer_norm_0_centred,
            reduce_op=nl.add,
            reduce_res=layer_norm_0_var_total,
        )
        layer_norm_0_var = nl.multiply(layer_norm_0_var_total, 1.0 / cols)
        layer_norm_0_var_eps = nl.add(layer_norm_0_var, 1e-05)
        layer_norm_0_rstd = nl.rsqrt(layer_norm_0_var_eps)
        layer_norm_0_normed = nisa.activation(
            op=nl.copy, data=layer_norm_0_centred, scale=layer_norm_0_rstd
        )
        layer_norm_0_scaled = nl.multiply(layer_norm_0_normed, weight_tile)
        layer_norm_0_shifted = nl.add(layer_norm_0_scaled, bias_tile)
        nl.store(out[row, i_f], layer_norm_0_shifted, mask=row < rows)
    return out


def forward(x, weight, bias):
    """Launch the kernels; the parameters are the inputs in call order."""
    layer_norm_0 = layer_norm_0_kernel(
        x, weight.reshape((1, weight.shape[0])), bias.reshape((1, bias.shape[0]))
    )
    return layer_norm_0
