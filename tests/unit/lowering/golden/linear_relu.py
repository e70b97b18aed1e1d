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

    # K lies on the partitions of both operands; a result tile has 128 rows, which is what the
    # stationary side holds, and up to 512 columns, one PSUM bank of fp32.
    P = nl.tile_size.pmax
    k_tiles = math.ceil(depth / P)
    N_TILE = min(nl.tile_size.gemm_moving_fmax, P * math.ceil(cols / P))
    m_tiles = math.ceil(rows / P)
    n_tiles = math.ceil(cols / N_TILE)
    # So many row tiles (at most 8) stay in SBUF with all of K, and the right operand is read once
    # for each block of them.
    block = math.gcd(m_tiles, 8)
    i_p = nl.arange(P)[:, None]
    i_k = nl.arange(P)[None, :]
    i_f = nl.arange(N_TILE)[None, :]
    i_d = nl.arange(depth)[None, :]
    i_p1 = nl.arange(1)[:, None]

    for b in nl.affine_range(m_tiles // block):
        # Zeros stand where the last tile of K, or of rows, ends early.
        left = nl.zeros((P, block, k_tiles, P), dtype=nl.float32)
        for m in nl.affine_range(block):
            rows_strip = nl.zeros((P, k_tiles * P), dtype=nl.float32)
            rows_strip[i_p, i_d] = nl.load(
                x[(b * block + m) * P + i_p, i_d], mask=(b * block + m) * P + i_p < rows
            )
            for k in nl.affine_range(k_tiles):
                left[i_p, m, k, i_k] = nl.copy(nisa.nc_transpose(rows_strip[i_p, k * P + i_k]))
        for n in nl.affine_range(n_tiles):
            right = nl.zeros((P, k_tiles, N_TILE), dtype=nl.float32)
            for j in nl.affine_range(N_TILE // P):
                cols_strip = nl.zeros((P, k_tiles * P), dtype=nl.float32)
                cols_strip[i_p, i_d] = nl.load(
                    weight[n * N_TILE + j * P + i_p, i_d], mask=n * N_TILE + j * P + i_p < cols
                )
                for k in nl.affine_range(k_tiles):
                    right[i_p, k, j * P + i_k] = nl.copy(
                        nisa.nc_transpose(cols_strip[i_p, k * P + i_k])
                    )
            col = n * N_TILE + i_f
            bias_tile_row = nl.load(bias[i_p1, col], mask=col < cols)
            bias_tile = nl.broadcast_to(bias_tile_row, shape=(P, N_TILE))
            for m in nl.affine_range(block):
                row = (b * block + m) * P + i_p
                acc = nl.zeros((P, N_TILE), dtype=nl.float32, buffer=nl.psum)
                for k in nl.affine_range(k_tiles):
                    acc += nisa.nc_matmul(left[i_p, m, k, i_k], right[i_p, k, i_f])
                addmm_1 = nl.add(acc, bias_tile)
                relu_2 = nl.relu(addmm_1)
                nl.store(out[row, col], relu_2, mask=(row < rows) & (col < cols))
    return out


def forward(x, weight, bias):
    """Launch the kernels; the parameters are the inputs in call order."""
    relu_2 = relu_2_kernel(x, weight, bias.reshape((1, bias.shape[0])))
    return relu_2
