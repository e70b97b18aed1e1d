"""What an estimate charges for: each block of a tensor is a tile of its own."""

import numpy as np

from nkiport.nki import target
from nkiport.simulator import Options, simulate
from nkiport.simulator.schedule import scheduled

HEAD = """import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
"""
TILES = 16


def traced(body: str):
    x = np.random.default_rng(0).random((TILES * 128, 512)).astype(np.float32)
    lines = "".join(f"    {line}\n" for line in [*body.splitlines(), "return out"])
    done = simulate(HEAD + lines, {"x": x}, options=Options(own=True))
    assert done.findings == ()
    np.testing.assert_allclose(done.outputs[0], np.exp(x), rtol=1e-6)
    return done.trace


LOOP = """for i in nl.affine_range({tiles}):
    rows = nl.ds(i * 128, 128)
    {load}
    {exp}
    nl.store(out[rows, :], {result})"""


def test_a_block_is_used_while_the_next_ones_are_still_loaded():
    trace = traced(
        f"t = nl.ndarray(({TILES}, nl.par_dim(128), 512), dtype=nl.float32)\n"
        f"for i in nl.affine_range({TILES}):\n"
        "    t[i] = nl.load(x[nl.ds(i * 128, 128), :])\n"
        + LOOP.format(tiles=TILES, load="s = t[i]", exp="e = nl.exp(s)", result="e")
    )
    bookings = list(scheduled(trace, target("trn1")))
    first = min(each.start for each in bookings if each.instruction.op == "nl.exp")
    loaded = max(each.end for each in bookings if each.instruction.op == "nl.load")

    assert first < loaded / 4


def test_a_filled_tensor_of_blocks_is_filled_block_by_block():
    trace = traced(
        f"t = nl.zeros(({TILES}, nl.par_dim(128), 512), dtype=nl.float32)\n"
        + LOOP.format(
            tiles=TILES, load="t[i] += nl.load(x[rows, :])", exp="e = nl.exp(t[i])", result="e"
        )
    )
    fills = [each for each in trace.instructions if each.op == "nisa.memset"]

    assert [(each.partitions, each.work.free) for each in fills] == [(128, 512)] * TILES
    assert len({each.writes for each in fills}) == TILES


def test_zeros_that_a_multiply_accumulates_into_cost_nothing():
    trace = traced(
        f"p = nl.zeros(({TILES}, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.psum)\n"
        + LOOP.format(tiles=TILES, load="t = nl.load(x[rows, :])", exp="e = nl.exp(t)", result="e")
    )

    assert not [each for each in trace.instructions if each.op == "nisa.memset"]
