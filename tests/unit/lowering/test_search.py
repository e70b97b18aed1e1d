"""Tilings are free: each tuning gives what PyTorch gives, and the search takes the fastest."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from nkiport.lowering import Tuning, lower
from nkiport.lowering.search import searched
from nkiport.lowering.tuning import CHOICES
from nkiport.simulator import Options, estimate, simulate
from tests.unit.lowering.conftest import Draft
from tests.unit.lowering.test_attention import attention
from tests.unit.lowering.test_lowering import chain, linear_relu

TUNINGS = [Tuning(**{name: value}) for name, values in CHOICES.items() for value in values]
LEAST = Tuning(
    chains=False, stacked=False, held_tiles=0, product_columns=128, positions=60, stream_columns=96
)


def convolution(channels, size, taps):
    """A ragged image (2, channels, size, size) and 70 outputs."""
    d = Draft()
    x = d.input("x", 2, channels, size, size)
    w, b = d.input("w", 70, channels, taps, taps), d.input("b", 70)
    shape = (2, 70, size - taps + 1, size - taps + 1)
    args = (x, w, b, (1, 1), (0, 0), (1, 1), False, (0, 0), 1)
    return d.graph(d.call("relu.default", d.call("convolution.default", *args, shape=shape),
                          shape=shape))  # fmt: skip


def elements(*shape):
    d = Draft()
    x, y = d.input("x", *shape), d.input("y", *shape)
    product = d.call("mul.Tensor", x, y, shape=shape)
    return d.graph(product, d.call("tanh.default", product, shape=shape))


CASES = {
    "elements": (elements(3, 200, 512), lambda x, y: x * y),
    "chain": (chain(200, 2500), lambda x, scale, shift: torch.tanh(x * scale + shift)),
    "linear": (linear_relu(260, 130, 300), lambda *given: functional.linear(*given).relu()),
    "tall": (linear_relu(1100, 70, 520), lambda *given: functional.linear(*given).relu()),
    "deep": (linear_relu(70, 900, 70), lambda *given: functional.linear(*given).relu()),
    "attention": (
        attention(3, 70, 150, 32, 32),
        lambda q, k, v: torch.softmax(q @ k.transpose(1, 2) * 0.25, -1) @ v,
    ),
    "convolution": (convolution(5, 25, 3), lambda x, w, b: functional.conv2d(x, w, b).relu()),
    "wide": (convolution(130, 13, 2), lambda x, w, b: functional.conv2d(x, w, b).relu()),
}


def inputs(graph):
    rng = np.random.default_rng(5)
    return {s.name: rng.standard_normal(s.shape).astype(np.float32) / 4 for s in graph.inputs}


def latency(source, given):
    return estimate(simulate(source, given).trace).p50_us


@pytest.mark.parametrize("case", CASES)
def test_every_tuning_gives_what_pytorch_gives(case):
    graph, reference = CASES[case]
    given = inputs(graph)
    wanted = reference(*map(torch.from_numpy, given.values())).numpy()
    sources = {lower(graph, tuning=tuning) for tuning in (*TUNINGS, LEAST)}

    assert len(sources) > 1, "nothing of it depends on the tuning"
    for source in sources:
        done = simulate(source, given)
        assert [finding.sentence() for finding in done.findings] == [], source
        np.testing.assert_allclose(done.outputs[0], wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_makes_another_kernel_of_some_graph(name):
    graphs = [graph for graph, _ in CASES.values()]

    for value in CHOICES[name]:
        tuning = replace(Tuning(), **{name: value})
        assert any(lower(graph, tuning=tuning) != lower(graph) for graph in graphs), value


@pytest.mark.parametrize("case", ["chain", "linear", "attention", "convolution"])
def test_what_a_search_finds_is_no_slower_and_the_same_each_time(case):
    graph, _ = CASES[case]
    given = inputs(graph)

    found = searched(graph, name=case)

    assert latency(found, given) <= latency(lower(graph, name=case), given)
    assert searched(graph, name=case) == found


def test_a_search_finds_what_is_faster():
    d = Draft()
    x = d.input("x", 4096, 512)
    graph = d.graph(d.call("relu.default", x, shape=(4096, 512)))
    given = inputs(graph)

    assert latency(searched(graph), given) < latency(lower(graph), given)


def test_what_is_too_long_to_run_stays_as_it_is():
    graph, _ = CASES["linear"]

    assert searched(graph, most_instructions=10) == lower(graph)


def test_the_bound_is_on_all_runs_together():
    graph, _ = CASES["chain"]
    given = inputs(graph)
    plain = lower(graph)
    needed = len(simulate(plain, given, options=Options()).trace.instructions)

    assert searched(graph, most_instructions=needed + 1) == plain
