"""Products read and turn as little as they can, and what follows them stays on chip."""

from collections import Counter

import numpy as np
import pytest

from nkiport.lowering import Tuning, lower
from nkiport.simulator import simulate
from tests.unit.lowering.conftest import Draft
from tests.unit.lowering.test_lowering import linear_relu


def layers(rows, depth, hidden, cols):
    """Two linear layers with a ReLU between them."""
    d = Draft()
    x, w, v = d.input("x", rows, depth), d.input("w", hidden, depth), d.input("v", cols, hidden)
    first = d.call("permute.default", w, (1, 0), shape=(depth, hidden))
    y = d.call("mm.default", x, first, shape=(rows, hidden))
    y = d.call("relu.default", y, shape=(rows, hidden))
    second = d.call("permute.default", v, (1, 0), shape=(hidden, cols))
    return d.graph(d.call("mm.default", y, second, shape=(rows, cols)))


def product_softmax(rows, depth, cols):
    d = Draft()
    x, y = d.input("x", rows, depth), d.input("y", depth, cols)
    product = d.call("mm.default", x, y, shape=(rows, cols))
    return d.graph(d.call("_softmax.default", product, -1, False, shape=(rows, cols)))


def trace(graph, **choices):
    given = {s.name: np.ones(s.shape, np.float32) for s in graph.inputs}
    done = simulate(lower(graph, tuning=Tuning(**choices)), given)
    assert not done.findings
    return done.trace


def turns(graph):
    return Counter(each.op for each in trace(graph).instructions)["nisa.nc_transpose"]


@pytest.mark.parametrize("sizes", [(256, 512, 1024), (1024, 512, 256), (300, 130, 300)])
def test_each_operand_of_a_product_is_read_once(sizes):
    graph = linear_relu(*sizes)
    inputs = sum(4 * np.prod(spec.shape) for spec in graph.inputs)
    bias = 4 * sizes[-1]

    assert inputs <= trace(graph).bytes_read <= inputs + bias
    assert trace(graph, held_tiles=0).bytes_read > inputs + bias


def test_a_deep_product_keeps_a_block_of_an_operand():
    rows, depth, cols = 512, 8192, 512
    read = trace(linear_relu(rows, depth, cols)).bytes_read

    once = 4 * depth * (rows + cols)
    assert once < read < 3 * once


def test_a_hidden_layer_has_nothing_to_turn():
    tile = 128
    given = layers(2 * tile, tile, 3 * tile, tile)

    assert turns(given) == 2 + 3 + 3  # the tiles of the input and of both weights


def test_few_rows_are_not_loaded_in_short_runs():
    tile = 128
    given = layers(64, tile, 3 * tile, tile)

    assert turns(given) == 1 + 3 + 3 + 3  # those of the hidden layer too


@pytest.mark.parametrize(("chains", "kernels"), [(True, 1), (False, 2)])
def test_row_operations_join_the_product_before_them(chains, kernels):
    graph = product_softmax(200, 70, 600)

    assert lower(graph, tuning=Tuning(chains=chains)).count("@nki.jit") == kernels


def test_rows_that_do_not_fit_are_reduced_by_themselves():
    assert lower(product_softmax(128, 4096, 4096)).count("@nki.jit") == 2
