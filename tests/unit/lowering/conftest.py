"""Graphs to lower, built by hand in the vocabulary of core ATen."""

from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
import pytest

from nkiport.contracts.graph import Graph, Node, Ref
from nkiport.contracts.tensors import InputSpec
from nkiport.lowering import lower
from nkiport.simulator import simulate

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


@dataclass
class Draft:
    """A graph under construction; every call adds a node and returns its value."""

    inputs: list = field(default_factory=list)
    nodes: list = field(default_factory=list)

    def input(self, name, *shape, dtype="float32"):
        self.inputs.append(InputSpec(name=name, shape=shape, dtype=dtype))
        return Ref(ref=name)

    def call(self, op, *args, shape, dtype="float32", **kwargs):
        name = f"{op.split('.')[0]}_{len(self.nodes)}"
        self.nodes.append(
            Node(name=name, op=f"aten.{op}", args=args, kwargs=kwargs, shape=shape, dtype=dtype)
        )
        return Ref(ref=name)

    def graph(self, *outputs):
        return Graph(inputs=tuple(self.inputs), nodes=tuple(self.nodes), outputs=outputs)


@pytest.fixture
def draft():
    return Draft()


def run(graph, *arrays, name="made"):
    """Lower and simulate; a lowered kernel must give no finding at all, no warning either."""
    source = lower(graph, name=name)
    given = {spec.name: array for spec, array in zip(graph.inputs, arrays, strict=True)}
    done = simulate(source, given)
    assert [finding.sentence() for finding in done.findings] == [], source
    return done.outputs
