"""Attention is one kernel: what PyTorch gives, at every shape, and as it is checked in."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nkiport.capture.callables import Runnable
from nkiport.capture.export import captured
from nkiport.contracts.capture import Reference
from nkiport.contracts.graph import Graph
from nkiport.lowering import lower
from nkiport.sandbox.buffers import on_device
from nkiport.simulator import simulate
from tests.unit.lowering.attentions import AROUND, CASES
from tests.unit.lowering.conftest import BFLOAT16, Draft, run

GOLDEN = Path(__file__).parent / "golden"
CHECKED_IN = {"attention": (8, 256, 256, 64, 64), "attention_upright": (8, 512, 1024, 128, 64)}
"""Kernels by name, and the sizes of attention that they are for."""
FILE = """import torch

from tests.unit.lowering import attentions

CASE = {{**attentions.CASES, **attentions.AROUND}}[{name!r}]


def Model():
    torch.manual_seed(3)
    return CASE[0]()


def get_inputs():
    torch.manual_seed(4)
    return [make() for make in CASE[1:]]
"""
pytestmark = [
    pytest.mark.filterwarnings("ignore:`isinstance\\(treespec:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The tensor attributes:UserWarning"),
]
few = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def attention(heads, rows, keys, depth, width, *, dtype="float32"):
    """Scores of queries (H, M, D) and keys (H, N, D), times values (H, N, E)."""
    d = Draft()
    q = d.input("q", heads, rows, depth, dtype=dtype)
    k = d.input("k", heads, keys, depth, dtype=dtype)
    v = d.input("v", heads, keys, width, dtype=dtype)
    turned = d.call("permute.default", k, (0, 2, 1), shape=(heads, depth, keys), dtype=dtype)
    over = {"shape": (heads, rows, keys), "dtype": dtype}
    scores = d.call("mul.Tensor", d.call("bmm.default", q, turned, **over), 0.25, **over)
    weights = d.call("_softmax.default", scores, -1, False, **over)
    return d.graph(d.call("bmm.default", weights, v, shape=(heads, rows, width), dtype=dtype))


def expected(q, k, v):
    scores = 0.25 * q.astype(np.float64) @ k.astype(np.float64).swapaxes(1, 2)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True) @ v.astype(np.float64)


SIZES = st.sampled_from([1, 2, 40, 127, 128, 129, 197, 256, 300])


@few
@given(
    st.integers(1, 4), SIZES, SIZES, st.sampled_from([1, 16, 32, 64, 128, 192, 256]),
    st.sampled_from([1, 24, 129]),
)  # fmt: skip
def test_attention_at_every_shape(heads, rows, keys, depth, width):
    rng = np.random.default_rng(1)
    shapes = [(heads, rows, depth), (heads, keys, depth), (heads, keys, width)]
    q, k, v = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)

    (y,) = run(attention(heads, rows, keys, depth, width), q, k, v)

    np.testing.assert_allclose(y, expected(q, k, v), rtol=1e-3, atol=1e-4)


@few
@given(SIZES, SIZES)
def test_bfloat16_attention_at_every_shape(rows, keys):
    rng = np.random.default_rng(2)
    shapes = [(2, rows, 32), (2, keys, 32), (2, keys, 32)]
    q, k, v = (rng.standard_normal(shape).astype(BFLOAT16) for shape in shapes)

    (y,) = run(attention(2, rows, keys, 32, 32, dtype="bfloat16"), q, k, v)

    np.testing.assert_allclose(y.astype(float), expected(q, k, v), rtol=2**-5, atol=2**-5)


@pytest.mark.parametrize("name", sorted(CASES | AROUND))
def test_attention_gives_what_pytorch_gives(name, tmp_path):
    source, graph, reference = lowered(name, tmp_path)
    ready = Runnable(reference, tmp_path)
    weights = {n.replace(".", "_"): t for n, t in ready.target.state_dict().items()}
    tensors = iter(ready.arguments)
    values = {s.name: weights[s.name] if s.role == "weight" else next(tensors)
              for s in graph.inputs}  # fmt: skip

    done = simulate(source, {n: on_device(t.detach().numpy()) for n, t in values.items()})

    assert [finding.sentence() for finding in done.findings] == [], source
    with torch.no_grad():
        wanted = ready.target(*ready.arguments).float().numpy()
    wide = name.startswith("half")
    bound = 2**-5 if wide else 1e-4
    np.testing.assert_allclose(done.outputs[0].astype(float), wanted, rtol=bound, atol=bound)


def lowered(name, folder):
    (folder / "case.py").write_text(FILE.format(name=name))
    reference = Reference(kind="module", file="case.py", symbol="Model")
    found = captured(reference, folder)
    assert found["graph"], found["no_graph_because"]
    graph = Graph.model_validate(found["graph"])
    return lower(graph, name=name), graph, reference


@pytest.mark.parametrize("name", ["plain", "cross", "mask_of_keys", "grouped", "merged", "sdpa"])
def test_attention_is_one_kernel(name, tmp_path):
    source, _, _ = lowered(name, tmp_path)

    assert source.count("@nki.jit") == 1


@pytest.mark.parametrize("name", ["banks", "large_scores_upright", "upright_merged"])
def test_weights_of_many_keys_are_not_turned(name, tmp_path):
    source, _, _ = lowered(name, tmp_path)

    assert "TURNS" not in source
    assert "spread" in source


@pytest.mark.parametrize("name", ["causal", "causal_tiles", "added_triangle"])
def test_keys_that_a_mask_hides_are_left_out(name, tmp_path):
    source, _, _ = lowered(name, tmp_path)

    assert source.count("@nki.jit") == 1
    assert "cols = (m + 1) * P" in source
    assert "nl.where" not in source


def test_a_mask_that_is_no_triangle_is_applied_as_it_is(tmp_path):
    source, _, _ = lowered("sdpa_no_key", tmp_path)

    assert "affine_select" not in source


def test_scores_that_are_read_elsewhere_too_stay_a_kernel_of_their_own():
    graph = attention(1, 32, 32, 16, 16)
    seen = graph.model_copy(update={"outputs": (*graph.outputs, graph.outputs[0].model_copy(
        update={"ref": graph.nodes[3].name}))})  # fmt: skip
    assert lower(graph, name="x").count("@nki.jit") == 1

    assert lower(seen, name="x").count("@nki.jit") > 1


def test_rows_too_long_for_the_chip_are_not_kept_whole():
    assert lower(attention(1, 128, 32768, 64, 64), name="x").count("@nki.jit") > 1


@pytest.mark.parametrize("name", sorted(CHECKED_IN))
def test_an_attention_kernel_reads_as_it_is_checked_in(name):
    """Regenerate with ``python -m tests.unit.lowering.test_attention``."""
    source = lower(attention(*CHECKED_IN[name]), name=name)

    assert source == (GOLDEN / f"{name}.py").read_text()


if __name__ == "__main__":
    for each, sizes in CHECKED_IN.items():
        (GOLDEN / f"{each}.py").write_text(lower(attention(*sizes), name=each))
