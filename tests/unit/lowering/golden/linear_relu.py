"""linear_relu: NKI kernels lowered from the captured graph."""

import math

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def relu_2_kernel(x, weight, bias):
    """Compute relu_2: matmul, add, relu."""
    rows = x.shape[0]
    cols = weight.shape[0]
    depth = x.shape[1]
    out = nl.ndarray((rows, cols), dtype=nl.float32, buffer=nl.shared_hbm)

    # K lies on the partitions of both operands. x stays in SBUF, and weight passes by once.
    P, N_TILE, K = 128, 256, 128
    m_tiles = math.ceil(rows / P)
    n_tiles = math.ceil(cols / N_TILE)
    k_tiles = math.ceil(depth / K)
    i_p, i_r = nl.arange(P)[:, None], nl.arange(P)[None, :]
    i_k, i_f = nl.arange(K)[:, None], nl.arange(N_TILE)[None, :]
    # So much of K is loaded at once, and turned a tile at a time.
    STRIP = 4 * K
    i_d, i_e = nl.arange(STRIP)[None, :], nl.arange(K)[None, :]
    TURN = 128
    i_c, i_j = nl.arange(TURN)[:, None], nl.arange(TURN)[None, :]
    i_p1 = nl.arange(1)[:, None]

    left = nl.ndarray((K, k_tiles, m_tiles * P), dtype=nl.float32)
    for m in nl.affine_range(m_tiles):
        rows_strip = nl.load(x[m * P + i_p, i_d])
        for k in nl.affine_range(k_tiles):
            left[i_k, k, m * P + i_r] = nl.copy(nisa.nc_transpose(rows_strip[i_p, k * K + i_e]))
    for n in nl.affine_range(n_tiles):
        right = nl.ndarray((K, k_tiles, N_TILE), dtype=nl.float32)
        for j in nl.affine_range(N_TILE // TURN):
            cols_strip = nl.load(weight[n * N_TILE + j * TURN + i_c, i_d])
            for k in nl.affine_range(k_tiles):
                right[i_k, k, j * TURN + i_j] = nl.copy(
                    nisa.nc_transpose(cols_strip[i_c, k * K + i_e])
                )
        col = n * N_TILE + i_f
        bias_tile_row = nl.load(bias[i_p1, col])
        bias_tile = nl.broadcast_to(bias_tile_row, shape=(P, N_TILE))
        for m in nl.affine_range(m_tiles):
            row = m * P + i_p
            acc = nl.zeros((P, N_TILE), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(k_tiles):
                acc += nisa.nc_matmul(left[i_k, k, m * P + i_r], right[i_k, k, i_f])
            addmm_1 = nl.add(acc, bias_tile)
            relu_2 = nl.relu(addmm_1)
            nl.store(out[row, col], relu_2)
    return out


def forward(x, weight, bias):
    """Launch the kernels; the parameters are the inputs in call order."""
    relu_2 = relu_2_kernel(x, weight, bias.reshape((1, bias.shape[0])))
    return relu_2
