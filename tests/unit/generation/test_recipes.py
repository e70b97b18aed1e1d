"""Recipes lower a graph; where speed is asked for, they search its tilings."""

import pytest

from nkiport.contracts.capture import Capture, Reference
from nkiport.contracts.judgement import Tolerance
from nkiport.generation import Recipes, Task
from nkiport.lowering import lower
from nkiport.lowering.search import searched
from tests.unit.lowering.conftest import Draft


@pytest.mark.parametrize(("share", "write"), [(None, lower), (0.9, searched)])
def test_a_share_that_is_asked_for_makes_recipes_search(share, write):
    d = Draft()
    x = d.input("x", 2048, 512)
    graph = d.graph(d.call("relu.default", x, shape=(2048, 512)))
    capture = Capture(
        reference=Reference(kind="module", file="relu.py", symbol="Model"),
        source_sha256="0" * 64, inputs=graph.inputs, outputs=(), graph=graph,
    )  # fmt: skip
    task = Task("relu", capture, "trn1", Tolerance(), min_roofline_share=share)

    assert lower(graph, name="relu") != searched(graph, name="relu")
    assert Recipes().write(task, None).source == write(graph, name="relu")
