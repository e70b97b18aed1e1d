"""References, run in a real child: what they give, and what stops them in one sentence."""

import numpy as np
import pytest

from nkiport.capture import ChildReferences
from nkiport.capture.work import flops_of
from nkiport.contracts.capture import Reference
from nkiport.contracts.errors import CaptureFailed
from nkiport.contracts.graph import Graph, Node, Ref
from nkiport.contracts.judgement import Oracle, Requirements
from nkiport.contracts.tensors import InputSpec

INPUTS = "\n\ndef get_inputs():\n    return [torch.randn(8, 16)]\n"
HEAD = "import torch\n\n\n"
LINEAR = (
    HEAD
    + """class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(16, 4)

    def forward(self, x):
        return torch.relu(self.fc(x)), x.sum(-1)
"""
    + INPUTS
)


def forward(body):
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    return f"{HEAD}class Model(torch.nn.Module):\n    def forward(self, x):\n{lines}\n{INPUTS}"


def captured(tmp_path, text, **more):
    (tmp_path / "model.py").write_text(text)
    asked = {"kind": "module", "file": "model.py", "symbol": "Model"} | more
    return ChildReferences().capture(Reference.model_validate(asked), tmp_path)


def test_weights_are_inputs_and_the_graph_is_core_aten(tmp_path):
    capture = captured(tmp_path, LINEAR)

    assert [(i.name, i.shape, i.role) for i in capture.inputs] == [
        ("x", (8, 16), "input"), ("fc_weight", (4, 16), "weight"), ("fc_bias", (4,), "weight"),
    ]  # fmt: skip
    assert [o.shape for o in capture.outputs] == [(8, 4), (8,)]
    assert {n.op for n in capture.graph.nodes} >= {"aten.relu.default", "aten.sum.dim_IntList"}
    assert capture.float64_golden
    assert capture.flops > 2 * 8 * 16 * 4


def test_a_weight_and_a_result_without_dimensions_keep_their_shape(tmp_path):
    scaled = LINEAR.replace(
        "torch.nn.Linear(16, 4)", "torch.nn.Parameter(torch.tensor(0.5))"
    ).replace("torch.relu(self.fc(x)), x.sum(-1)", "(self.fc * x).sum()")

    capture = captured(tmp_path, scaled)

    assert [(i.name, i.shape, i.role) for i in capture.inputs] == [
        ("x", (8, 16), "input"), ("fc", (), "weight"),
    ]  # fmt: skip
    assert [o.shape for o in capture.outputs] == [()]


def test_a_loss_has_no_axis_and_a_nested_answer_lies_flat(tmp_path):
    capture = captured(tmp_path, forward("x += 1\nreturn x.mean(), (x, [x.sum(-1)])"))

    assert [each.shape for each in capture.outputs] == [(), (8, 16), (8,)]
    assert len(capture.graph.outputs) == 3


def test_what_is_written_over_or_asked_only_for_its_shape_is_no_operand(tmp_path):
    kept = LINEAR.replace("torch.nn.Linear(16, 4)", "torch.nn.Buffer(torch.ones(8, 16))").replace(
        "torch.relu(self.fc(x)), x.sum(-1)",
        "self.fc.copy_(x) + torch.ones_like(self.fc), torch.full_like(self.fc, 3.0) * x",
    )

    capture = captured(tmp_path, kept)

    assert [each.name for each in capture.inputs] == ["x"]
    assert not {n.op for n in capture.graph.nodes} & {"aten.copy.default", "aten.ones_like.default"}


def test_goldens_are_of_the_inputs_and_weights_given_in_both_precisions(tmp_path):
    capture = captured(tmp_path, LINEAR)
    rng = np.random.default_rng(0)
    trial = {i.name: rng.standard_normal(i.shape).astype(np.float32) for i in capture.inputs}
    oracle = Oracle(
        job_id="job-00000001", kernel_id="k", source_sha256=capture.source_sha256,
        reference=capture.reference, inputs=capture.inputs, outputs=capture.outputs,
        requirements=Requirements(), seed_commitment="0" * 64,
    )  # fmt: skip

    said = ChildReferences().golden(oracle, tmp_path, [trial], ("working", "float64"))
    ((narrow, _),), ((wide, _),) = said["working"], said["float64"]

    x, weight, bias = (trial[name].astype(np.float64) for name in ("x", "fc_weight", "fc_bias"))
    expected = np.maximum(x @ weight.T + bias, 0)
    assert (wide.dtype, narrow.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(wide, expected, rtol=1e-12)
    np.testing.assert_allclose(narrow, expected, rtol=1e-4, atol=1e-5)


def goldens(tmp_path, text, **more):
    """What the reference gives on zeros in its input, with every weight 1."""
    capture = captured(tmp_path, text, **more)
    trial = {
        i.name: (np.ones if i.role == "weight" else np.zeros)(i.shape, i.dtype)
        for i in capture.inputs
    }
    oracle = Oracle(
        job_id="job-00000001", kernel_id="k", source_sha256=capture.source_sha256,
        reference=capture.reference, inputs=capture.inputs, outputs=capture.outputs,
        requirements=Requirements(), seed_commitment="0" * 64,
    )  # fmt: skip
    return ChildReferences().golden(oracle, tmp_path, [trial], ("working",))["working"][0]


HELD = """class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(16, 4)
        {attribute}

    def forward(self, x):
        return {answer}
"""


@pytest.mark.parametrize(
    ("attribute", "answer"),
    [
        ("self.call = lambda x: self.fc(x)", "self.call(x)"),
        ("fc = self.fc; self.calls = [lambda x, fc=fc: fc(x)]", "self.calls[0](x)"),
        ("import threading; self.lock = threading.Lock()", "self.fc(x)"),
    ],
)
def test_weights_reach_a_module_that_holds_functions_or_cannot_be_copied(
    tmp_path, attribute, answer
):
    (only,) = goldens(tmp_path, HEAD + HELD.format(attribute=attribute, answer=answer) + INPUTS)

    np.testing.assert_array_equal(only, np.ones((8, 4), np.float32))


def test_an_input_and_a_buffer_of_one_name_stay_apart(tmp_path):
    held = HELD.format(attribute="self.register_buffer('x', torch.zeros(16))", answer="x + self.x")

    (only,) = goldens(tmp_path, HEAD + held + INPUTS)

    np.testing.assert_array_equal(only, np.ones((8, 16), np.float32))


NORM = HELD.format(attribute="self.bn = torch.nn.BatchNorm1d(16)", answer="self.bn(x + 5)")


@pytest.mark.parametrize(("training", "expected"), [(False, 5.0), (True, 1.0)])
def test_batch_norm_takes_the_statistics_of_the_mode_that_is_asked_for(
    tmp_path, training, expected
):
    (only,) = goldens(tmp_path, HEAD + NORM + INPUTS, training=training)

    np.testing.assert_allclose(only, np.full((8, 16), expected), rtol=1e-4)


def test_dropout_while_training_is_refused(tmp_path):
    held = HELD.format(attribute="self.drop = torch.nn.Dropout()", answer="self.drop(x)")
    with pytest.raises(CaptureFailed, match="switch dropout off"):
        captured(tmp_path, HEAD + held + INPUTS, training=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (forward("raise ValueError('no luck')"), "the reference raised ValueError: no luck"),
        (forward("return x + torch.rand_like(x)"), "the reference is random"),
        (forward("return {'y': x}"), "the reference returns dict; return a tensor"),
        (forward("return x * 1j"), "complex or sparse"),
        ("import nowhere\n", "importing the file raised ModuleNotFoundError"),
        (HEAD + "x = 1\n" + INPUTS, "has no 'Model'"),
        (HEAD + "class Model(torch.nn.Module):\n    def forward(self, x):\n        return x\n",
         "add 'def get_inputs():'"),
        (forward("import os\nos._exit(0)"), "did not end well"),
    ],
)  # fmt: skip
def test_what_cannot_be_captured_says_why_in_one_sentence(tmp_path, text, said):
    with pytest.raises(CaptureFailed, match=r".") as raised:
        captured(tmp_path, text)

    assert said in str(raised.value)


def test_control_flow_on_data_leaves_the_reference_without_a_graph(tmp_path):
    capture = captured(tmp_path, forward("if x.sum() > 0:\n    return x\nreturn -x"))

    assert capture.graph is None
    assert "control flow" in capture.no_graph_because


def test_an_input_specification_with_a_wrong_dtype_is_named(tmp_path):
    spec = InputSpec(name="x", shape=(8, 16), dtype="uint8")
    with pytest.raises(CaptureFailed, match=r"raised RuntimeError"):
        captured(tmp_path, LINEAR, inputs=(spec,))


def test_a_reference_outside_of_the_tree_is_refused(tmp_path):
    with pytest.raises(CaptureFailed, match=r"no file '\.\./x\.py'"):
        ChildReferences().capture(
            Reference(kind="module", file="../x.py", symbol="Model"), tmp_path
        )


def test_a_reference_sees_neither_the_network_nor_the_users_of_the_host(tmp_path):
    text = forward(
        "import pathlib, socket\n"
        "assert not pathlib.Path('/etc/passwd').exists()\n"
        "try:\n    socket.create_connection(('127.0.0.1', 9), 1)\n"
        "except OSError:\n    return x * 2\n"
    )
    assert captured(tmp_path, text).outputs[0].shape == (8, 16)


def test_flops_count_a_multiply_add_twice_and_a_move_not_at_all():
    a = InputSpec(name="a", shape=(4, 8))
    nodes = (
        Node(name="t", op="aten.permute.default", args=(Ref(ref="a"), (1, 0)), shape=(8, 4)),
        Node(name="m", op="aten.mm.default", args=(Ref(ref="a"), Ref(ref="t")), shape=(4, 4)),
    )
    graph = Graph(inputs=(a,), nodes=nodes, outputs=(Ref(ref="m"),))

    assert flops_of(graph) == 2 * 4 * 4 * 8
