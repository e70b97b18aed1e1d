"""Lowered kernels give what NumPy gives, at every shape, and read as they are checked in."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nkiport.contracts.errors import UnsupportedGraph
from nkiport.contracts.graph import Ref
from nkiport.lowering import lower, uncovered
from nkiport.lowering.rules import RULES
from nkiport.lowering.writer import WIDTH
from tests.unit.lowering.conftest import BFLOAT16, Draft, run

GOLDEN = Path(__file__).parent / "golden"
EDGES = st.sampled_from([1, 2, 3, 64, 127, 128, 129, 200, 257])
WIDTHS = st.sampled_from([1, 5, 64, 511, 512, 513])
few = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def random(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def softmax(rows, cols):
    d = Draft()
    x = d.input("x", rows, cols)
    return d.graph(d.call("_softmax.default", x, -1, False, shape=(rows, cols)))


def layer_norm(rows, cols):
    d = Draft()
    x, w, b = d.input("x", rows, cols), d.input("weight", cols), d.input("bias", cols)
    y = d.call("native_layer_norm.default", x, (cols,), w, b, 1e-5, shape=(rows, cols))
    return d.graph(Ref(ref=y.ref, index=0))


def linear_relu(rows, depth, cols):
    d = Draft()
    x, w, b = d.input("x", rows, depth), d.input("weight", cols, depth), d.input("bias", cols)
    turned = d.call("permute.default", w, (1, 0), shape=(depth, cols))
    y = d.call("addmm.default", b, x, turned, shape=(rows, cols))
    return d.graph(d.call("relu.default", y, shape=(rows, cols)))


def chain(rows, cols):
    d = Draft()
    x, scale, shift = d.input("x", rows, cols), d.input("scale", cols), d.input("shift", rows, 1)
    y = d.call("mul.Tensor", x, scale, shape=(rows, cols))
    y = d.call("add.Tensor", y, shift, shape=(rows, cols))
    return d.graph(d.call("tanh.default", y, shape=(rows, cols)))


@few
@given(EDGES, WIDTHS)
def test_softmax_at_every_shape(rows, cols):
    x = 20 * random(rows, cols)
    (y,) = run(softmax(rows, cols), x)

    powers = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    np.testing.assert_allclose(y, powers / powers.sum(-1, keepdims=True), rtol=1e-4, atol=1e-6)


@few
@given(EDGES, WIDTHS)
def test_layer_norm_at_every_shape(rows, cols):
    x, w, b = random(rows, cols), random(cols, seed=1), random(cols, seed=2)
    (y,) = run(layer_norm(rows, cols), x, w, b)

    wide = x.astype(np.float64)
    centred = wide - wide.mean(-1, keepdims=True)
    expected = centred / np.sqrt(wide.var(-1, keepdims=True) + 1e-5) * w + b
    np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-3)


@few
@given(EDGES, EDGES, WIDTHS)
def test_a_linear_layer_with_its_bias_and_activation_at_every_shape(rows, depth, cols):
    x, w, b = random(rows, depth), random(cols, depth, seed=1), random(cols, seed=2)
    (y,) = run(linear_relu(rows, depth, cols), x, w, b)

    expected = np.maximum(x.astype(np.float64) @ w.T.astype(np.float64) + b, 0)
    np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-3)


@few
@given(EDGES, WIDTHS)
def test_a_chain_with_both_kinds_of_broadcast_at_every_shape(rows, cols):
    x, scale, shift = random(rows, cols), random(cols, seed=1), random(rows, 1, seed=2)
    (y,) = run(chain(rows, cols), x, scale, shift)

    np.testing.assert_allclose(y, np.tanh(x * scale + shift), rtol=1e-4, atol=1e-5)


@few
@given(EDGES, WIDTHS, st.sampled_from(["sum", "mean", "amax", "amin"]), st.booleans())
def test_reductions_of_rows_at_every_shape(rows, cols, name, keepdim):
    d = Draft()
    x = d.input("x", rows, cols)
    op = {"sum": "sum.dim_IntList", "mean": "mean.dim"}.get(name, f"{name}.default")
    shape = (rows, 1) if keepdim else (rows,)
    graph = d.graph(d.call(op, x, (1,), keepdim, shape=shape))
    values = random(rows, cols)

    (y,) = run(graph, values)

    expected = getattr(np, name)(values.astype(np.float64), axis=1, keepdims=keepdim)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)


@few
@given(EDGES, EDGES, WIDTHS)
def test_bfloat16_matmuls_accumulate_in_float32(rows, depth, cols):
    d = Draft()
    x = d.input("x", rows, depth, dtype="bfloat16")
    y = d.input("y", depth, cols, dtype="bfloat16")
    graph = d.graph(d.call("mm.default", x, y, shape=(rows, cols), dtype="bfloat16"))
    a, b = random(rows, depth, dtype=BFLOAT16), random(depth, cols, seed=1, dtype=BFLOAT16)

    (got,) = run(graph, a, b)

    assert got.dtype == BFLOAT16
    wide = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(got.astype(np.float64), wide, rtol=2**-7, atol=2**-7)


@pytest.mark.parametrize(
    ("name", "graph"),
    [
        ("softmax", softmax(256, 1024)),
        ("layer_norm", layer_norm(200, 512)),
        ("linear_relu", linear_relu(256, 512, 1024)),
        ("chain", chain(256, 512)),
    ],
)
def test_a_lowered_kernel_reads_as_it_is_checked_in(name, graph):
    """Regenerate with ``python -m tests.unit.lowering.test_lowering``."""
    assert lower(graph, name=name) == (GOLDEN / f"{name}.py").read_text()


@pytest.mark.parametrize("length", [49, 51, 80, 300])
def test_a_name_of_any_length_fits_its_line(length):
    source = lower(softmax(8, 8), name="n" * length)

    head = source.splitlines()[0]
    assert len(head) <= WIDTH
    assert head.startswith(f'"""{"n" * 40}')


def test_no_overload_has_two_rules():
    assert len(RULES) == len({rule.op for rule in RULES})


def test_an_operator_without_a_rule_is_named():
    d = Draft()
    graph = d.graph(d.call("frobnicate.default", d.input("x", 4, 4), shape=(4, 4)))

    assert uncovered(graph) == ("aten.frobnicate.default",)
    with pytest.raises(UnsupportedGraph, match=r"aten\.frobnicate\.default"):
        lower(graph, name="x")


def test_a_result_that_no_rule_gives_is_named():
    d = Draft()
    x = d.input("x", 1, 1, 4, 4)
    y = d.call("adaptive_avg_pool2d.default", x, (2, 2), shape=(1, 1, 2, 2))
    with pytest.raises(UnsupportedGraph, match=r"result 1 of adaptive_avg_pool2d"):
        lower(d.graph(Ref(ref=y.ref, index=1)), name="x")


def test_every_step_of_a_lowering_can_be_watched():
    seen = []

    lower(softmax(8, 8), name="softmax", trace=lambda *step: seen.append(step))

    assert len(seen) >= 3


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    made = {
        "softmax": softmax(256, 1024), "layer_norm": layer_norm(200, 512),
        "linear_relu": linear_relu(256, 512, 1024), "chain": chain(256, 512),
    }  # fmt: skip
    for name, graph in made.items():
        (GOLDEN / f"{name}.py").write_text(lower(graph, name=name))
