"""What an estimate charges for: tiles, engines, and what does not fit."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from nkiport.nki import target
from nkiport.simulator import Options, simulate
from nkiport.simulator.schedule import scheduled

HEAD = """import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
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


HELD = (
    f"t = nl.ndarray(({TILES}, nl.par_dim(128), 512), dtype=nl.float32)\n"
    f"for i in nl.affine_range({TILES}):\n"
    "    t[i] = {first}nl.load(x[nl.ds(i * 128, 128), :]){end}\n"
)


@pytest.mark.parametrize(
    ("computed", "saved"), [(True, TILES // 2), (False, 0)], ids=["computed", "loaded"]
)
def test_tiles_that_do_not_fit_wait_in_hbm_and_loaded_ones_need_no_saving(computed, saved):
    first, second = ("nl.exp(", "t[i]") if computed else ("", "nl.exp(t[i])")
    trace = traced(
        HELD.format(first=first, end=")" if computed else "")
        + LOOP.format(tiles=TILES, load=f"s = {second}", exp="pass", result="s")
    )
    chip = target("trn1")
    half = replace(chip, sbuf_bytes=TILES // 2 * 512 * 4)
    roomy, tight = (
        Counter(each.instruction.op for each in scheduled(trace, each_chip))
        for each_chip in (chip, half)
    )

    assert roomy == Counter({"nl.load": TILES, "nl.exp": TILES, "nl.store": TILES})
    assert tight["nl.load"] - roomy["nl.load"] == pytest.approx(TILES // 2, abs=2)
    assert tight["nl.store"] - roomy["nl.store"] == pytest.approx(saved, abs=2 if saved else 0)


@pytest.mark.parametrize(
    ("code", "engine"),
    [
        ("nl.copy(s)", "scalar"),
        ("nl.multiply(s, 2.0)", "scalar"),
        ("nl.multiply(s, s)", "vector"),
        ("nisa.tensor_copy(s, engine=nisa.vector_engine)", "vector"),
        ("nisa.tensor_scalar(s, nl.add, 1.0)", "scalar"),
        ("nisa.tensor_scalar(s, nl.add, 1.0, engine=nisa.gpsimd_engine)", "gpsimd"),
        ("nisa.reciprocal(s)", "scalar"),
    ],
)
def test_an_instruction_runs_where_it_is_asked_to_or_where_the_compiler_puts_it(code, engine):
    trace = traced(
        LOOP.format(tiles=TILES, load=f"s = nl.load(x[rows, :]); u = {code}", exp="e = nl.exp(s)",
                    result="e")
    )  # fmt: skip
    others = [each for each in trace.instructions if each.kind != "dma" and each.op != "nl.exp"]

    assert {each.engine for each in others} == {engine}


def test_a_left_side_is_turned_and_copied_only_if_it_has_to_be():
    code = "p = nl.matmul(s[:, 0:128], s[:, 0:512], transpose_x={})"
    busy = []
    for given in (True, False):
        trace = traced(
            LOOP.format(tiles=TILES, load="s = nl.load(x[rows, :])",
                        exp=f"{code.format(given)}; e = nl.exp(s)", result="e")
        )  # fmt: skip
        times = Counter[str]()
        for each in scheduled(trace, target("trn1")):
            times[each.engine] += each.end - each.start
        busy.append(times)

    straight, turned = busy
    assert turned["tensor"] == pytest.approx(straight["tensor"] * (512 + 128) / 512)
    assert turned["scalar"] - straight["scalar"] == pytest.approx(TILES * (128 + 60) / 1400)


TWO_LAUNCHES = (
    HEAD
    + """    for i in nl.affine_range(4):
        rows = nl.ds(i * 128, 128)
        nl.store(out[rows, :], nl.exp(nl.load(x[rows, :])))
    return out


def forward(x):
    {host}
"""
)


@pytest.mark.parametrize(
    ("host", "waits"),
    [
        ("return kernel(kernel(x))", True),
        ("return kernel(kernel(x).reshape((1, 512, 512)).squeeze(0))", True),
        ("return kernel(x), kernel(x)", False),
    ],
)
def test_a_launch_waits_for_what_an_earlier_one_makes_and_for_nothing_else(host, waits):
    x = np.random.default_rng(0).random((512, 512)).astype(np.float32)
    done = simulate(TWO_LAUNCHES.format(host=host), {"x": x})
    assert done.findings == ()
    bookings = list(scheduled(done.trace, target("trn1")))
    later = [each for each in bookings if each.instruction.op == "nl.load"][4:]
    stored = [each for each in bookings if each.instruction.op == "nl.store"][:4]

    startup = target("trn1").dma_startup_us
    waited = min(e.start for e in later) >= max(e.end for e in stored) + startup
    assert waited == waits
