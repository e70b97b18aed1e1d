"""Long rows of scores are built with their keys on the partitions: weights need no turning then.

The maximum of a row lies across the partitions. The tiles' maxima are turned to find it, and a
product spreads it over all keys: two transposes for a tile of rows, whatever the number of keys.
A column of ones beside the values adds the weights up.
"""

from nkiport.lowering.anchored import nest
from nkiport.lowering.chain import BANKED
from nkiport.lowering.chained import Chained

BANKS = "for b in nl.static_range(key_tiles // BANKED):"


def constants(made: Chained) -> None:
    """Index expressions for several tiles of scores, and what spreads a number for each row."""
    write = made.writer
    write.comment("So many tiles of scores are beside each other in a PSUM bank.")
    write.line(f"BANKED = {BANKED}")
    write.line("i_n = nl.arange(BANKED * P)[None, :]")
    write.line("i_h = nl.arange(BANKED // 2 * P)[None, :]")
    write.line("i_t, i_m = nl.arange(KEYS)[:, None, None], nl.arange(BANKED)[None, :, None]")
    write.line("i_r = nl.arange(P)[None, None, :]")
    write.line("i_v = nl.arange(width + 1)[None, :]")
    write.line("i_1 = nl.arange(1)[None, :]")
    write.line("ones = nl.ones((P, KEYS), dtype=nl.float32)")
    told = ["pred=i_p == i_q", "on_true_tile=nl.ones((P, P), dtype=nl.float32)"]
    write.call("diagonal = nisa.affine_select(", [*told, "on_false_value=0.0"])


def weigh_upright(made: Chained) -> None:
    """The weights of one head, with their keys on the partitions."""
    write = made.writer
    query, key = made.depth(made.query, 0), made.depth(made.key, 0)
    shape = "(key_tiles // BANKED, nl.par_dim(KEYS), BANKED * P)"
    write.call("banks = nl.ndarray(", [shape, "dtype=nl.float32", "buffer=nl.psum"])
    with nest(write, BANKS, "for j in nl.static_range(BANKED):"):
        operands = [f"keys[{key}, (b * BANKED + j) * KEYS + i_j]", f"queries[{query}, i_q]"]
        write.call("banks[b, i_k, j * P + i_q] = nisa.nc_matmul(", operands)
    _maximum(made)
    tile = "h * key_tiles + b * BANKED + i_m" if made.heads > 1 else "b * BANKED + i_m"
    with nest(write, BANKS):
        write.line("shifted = nl.add(banks[b, i_t, i_m * P + i_r], spread[i_t, i_r])")
        write.line(f"weights[i_t, ({tile}) * P + i_r] = nl.exp(shifted)")


def _maximum(made: Chained) -> None:
    """The negated maximum of each row, on the partitions of all keys."""
    write = made.writer
    write.comment("The greatest score of each row: over the tiles, then over the partitions.")
    write.line("most = nl.copy(banks[0, i_k, i_n])")
    with nest(write, "for b in nl.static_range(1, key_tiles // BANKED):"):
        write.line("most[i_k, i_n] = nl.maximum(banks[b, i_k, i_n], most[i_k, i_n])")
    write.line("pairs = nl.maximum(most[i_k, i_h], most[i_k, BANKED // 2 * P + i_h])")
    write.line("greatest = nl.maximum(pairs[i_k, i_q], pairs[i_k, P + i_q])")
    told = ["op=nl.max", "data=nisa.nc_transpose(greatest)", "axis=1", "negate=True"]
    write.call("shift = nisa.tensor_reduce(", [*told, "keepdims=True"])
    write.line("rows_shift = nisa.tensor_scalar(diagonal, op0=nl.multiply, operand0=shift)")
    write.line("spread = nl.copy(nisa.nc_matmul(ones, rows_shift))")
