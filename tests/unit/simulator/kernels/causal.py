"""Scores below the diagonal kept, the rest replaced, by position; row sums beside them."""

import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
from neuronxcc import nki


@nki.jit
def causal_kernel(scores):
    n, m = scores.shape
    kept = nl.ndarray((n, m), dtype=scores.dtype, buffer=nl.shared_hbm)
    sums = nl.ndarray((n, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    i_q = nl.arange(n)[:, None]
    i_k = nl.arange(m)[None, :]
    tile = nl.load(scores)
    chosen = nisa.affine_select(
        pred=(i_q >= i_k), on_true_tile=tile[i_q, i_k], on_false_value=-9984.0
    )
    positions = nisa.iota(i_q * 0 + i_k, dtype=nl.int32)
    positive = nl.where(nl.less(positions, 3), chosen, 0.0)
    nl.store(kept, value=chosen)
    nl.store(sums, nl.sum(positive, axis=1, keepdims=True, dtype=nl.float32))
    return kept, sums
