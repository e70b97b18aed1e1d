"""attention_upright: NKI kernels lowered from the captured graph."""

import math

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def bmm_4_kernel(q, k_, v):
    """Compute bmm_4: matmul, mul, max, sub, exp, sum, div."""
    rows = q.shape[1]
    cols = k_.shape[1]
    depth = q.shape[2]
    width = v.shape[2]
    outer0 = q.shape[0]
    out = nl.ndarray((outer0, rows, width), dtype=nl.float32, buffer=nl.shared_hbm)

    # Tiles of the keys lie on the partitions, so that weights need no turning before they are
    # multiplied; the greatest score of a row is spread over the partitions by a product.
    P, KEYS, N_TILE, D_TILE = 128, 128, 512, 128
    key_tiles = math.ceil(cols / KEYS)
    n_tiles = math.ceil(cols / N_TILE)
    i_p, i_q = nl.arange(P)[:, None], nl.arange(P)[None, :]
    i_k, i_j = nl.arange(KEYS)[:, None], nl.arange(KEYS)[None, :]
    i_e, i_d = nl.arange(D_TILE)[:, None], nl.arange(D_TILE)[None, :]
    i_w = nl.arange(width)[None, :]
    # So many tiles of scores are beside each other in a PSUM bank.
    BANKED = 4
    i_n = nl.arange(BANKED * P)[None, :]
    i_h = nl.arange(BANKED // 2 * P)[None, :]
    i_t, i_m = nl.arange(KEYS)[:, None, None], nl.arange(BANKED)[None, :, None]
    i_r = nl.arange(P)[None, None, :]
    i_v = nl.arange(width + 1)[None, :]
    i_1 = nl.arange(1)[None, :]
    ones = nl.ones((P, KEYS), dtype=nl.float32)
    diagonal = nisa.affine_select(
        pred=i_p == i_q, on_true_tile=nl.ones((P, P), dtype=nl.float32), on_false_value=0.0
    )

    for o0 in nl.affine_range(outer0):
        # The keys, their depth on the partitions.
        keys = nl.ndarray((D_TILE, 1, key_tiles * KEYS), dtype=nl.float32)
        for j in nl.affine_range(key_tiles):
            strip = nl.load(k_[o0, j * KEYS + i_k, i_d])
            keys[i_e, 0, j * KEYS + i_j] = nisa.tensor_copy(
                nisa.nc_transpose(strip), engine=nisa.vector_engine
            )
        # The values, their keys on the partitions; ones beside them add the weights up.
        values = nl.ndarray((KEYS, key_tiles, width + 1), dtype=nl.float32)
        for j in nl.affine_range(key_tiles):
            values[i_k, j, i_w] = nl.load(v[o0, j * KEYS + i_k, i_w])
            values[i_k, j, width + i_1] = nl.ones((KEYS, 1), dtype=nl.float32)
        for m in nl.affine_range(math.ceil(rows / P)):
            row = m * P + i_p
            queries = nl.ndarray((D_TILE, 1, P), dtype=nl.float32)
            strip = nl.load(q[o0, m * P + i_p, i_d])
            queries[i_e, 0, i_q] = nisa.activation(
                op=nl.copy, data=nisa.nc_transpose(strip), scale=0.25
            )
            weights = nl.ndarray((KEYS, key_tiles * P), dtype=nl.float32)
            banks = nl.ndarray(
                (key_tiles // BANKED, nl.par_dim(KEYS), BANKED * P),
                dtype=nl.float32,
                buffer=nl.psum,
            )
            for b in nl.static_range(key_tiles // BANKED):
                for j in nl.static_range(BANKED):
                    banks[b, i_k, j * P + i_q] = nisa.nc_matmul(
                        keys[i_e, 0, (b * BANKED + j) * KEYS + i_j], queries[i_e, 0, i_q]
                    )
            # The greatest score of each row: over the tiles, then over the partitions.
            most = nl.copy(banks[0, i_k, i_n])
            for b in nl.static_range(1, key_tiles // BANKED):
                most[i_k, i_n] = nl.maximum(banks[b, i_k, i_n], most[i_k, i_n])
            pairs = nl.maximum(most[i_k, i_h], most[i_k, BANKED // 2 * P + i_h])
            greatest = nl.maximum(pairs[i_k, i_q], pairs[i_k, P + i_q])
            shift = nisa.tensor_reduce(
                op=nl.max, data=nisa.nc_transpose(greatest), axis=1, negate=True, keepdims=True
            )
            rows_shift = nisa.tensor_scalar(diagonal, op0=nl.multiply, operand0=shift)
            spread = nl.copy(nisa.nc_matmul(ones, rows_shift))
            for b in nl.static_range(key_tiles // BANKED):
                shifted = nl.add(banks[b, i_t, i_m * P + i_r], spread[i_t, i_r])
                weights[i_t, (b * BANKED + i_m) * P + i_r] = nl.exp(shifted)
            acc = nl.zeros((P, width + 1), dtype=nl.float32, buffer=nl.psum)
            for j in nl.affine_range(key_tiles):
                acc += nisa.nc_matmul(weights[i_k, j * P + i_q], values[i_k, j, i_v])
            bmm_4 = nisa.tensor_scalar(
                acc[i_p, i_w], op0=nl.multiply, operand0=nisa.reciprocal(acc[i_p, width + i_1])
            )
            nl.store(out[o0, row, i_w], bmm_4)
    return out


def forward(q, k_, v):
    """Launch the kernels; the parameters are the inputs in call order."""
    bmm_4 = bmm_4_kernel(q, k_, v)
    return bmm_4
