"""Every operator family: captured from PyTorch, lowered, simulated, and equal to PyTorch."""

import numpy as np
import pytest
import torch

from nkiport.capture.callables import Runnable, lifted
from nkiport.capture.export import captured
from nkiport.contracts.capture import Reference
from nkiport.contracts.graph import Graph
from nkiport.lowering import lower
from nkiport.sandbox.buffers import device_dtype_of, on_device
from nkiport.simulator import simulate
from tests.unit.lowering.operators import CASES

pytestmark = [
    pytest.mark.filterwarnings("ignore:`isinstance\\(treespec:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The tensor attributes:UserWarning"),
    pytest.mark.filterwarnings("ignore:LSTM with projections:UserWarning"),
]
FILE = """import torch

from tests.unit.lowering import operators


def Model():
    torch.manual_seed(3)
    return operators.module({name!r})


def get_inputs():
    torch.manual_seed(4)
    return operators.inputs({name!r})
"""


def flat(said):
    if isinstance(said, (tuple, list)):
        return [each for part in said for each in flat(part)]
    return [said]


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_lowered_operator_gives_what_pytorch_gives(name, tmp_path):
    (tmp_path / "case.py").write_text(FILE.format(name=name))
    reference = Reference(kind="module", file="case.py", symbol="Model")
    found = captured(reference, tmp_path)
    assert found["graph"], found["no_graph_because"]
    graph = Graph.model_validate(found["graph"])
    run = Runnable(reference, tmp_path)
    names = lifted(run.target)
    weights = {names[name]: tensor for name, tensor in run.target.state_dict().items()}
    tensors = iter(run.arguments)
    given = {s.name: weights[s.name] if s.role == "weight" else next(tensors) for s in graph.inputs}

    source = lower(graph, name=name)
    done = simulate(source, {name: on_device(t.detach().numpy()) for name, t in given.items()})

    assert [finding.sentence() for finding in done.findings] == [], source
    with torch.no_grad():
        wanted = flat(run.target(*run.arguments))
    assert len(done.outputs) == len(wanted)
    for got, tensor in zip(done.outputs, wanted, strict=True):
        want = tensor.numpy()
        assert got.shape == want.shape
        assert got.dtype == device_dtype_of(want.dtype.name)
        np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=2e-3, atol=2e-3)
    assert source == lower(graph, name=name)
