"""Triton kernels: what their text says, trusted only where Triton's interpreter agrees."""

import pytest

from nkiport.capture import ChildReferences
from nkiport.contracts.capture import Reference
from nkiport.contracts.errors import CaptureFailed

KERNEL = """import torch
import triton
import triton.language as tl


@triton.jit
def kernel(out_ptr, x_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols < n, other=0.0)
    {body}
    tl.store(out_ptr + row * stride + cols, y, mask=cols < n)


def run(x):
    out = torch.empty_like(x)
    kernel[(x.shape[0],)](out, x, x.stride(0), x.shape[1], BLOCK=64)
    return out


def get_inputs():
    return [torch.randn(8, 50)]
"""


def captured(tmp_path, body):
    (tmp_path / "kernel.py").write_text(KERNEL.replace("{body}", body))
    reference = Reference(kind="function", file="kernel.py", symbol="run")
    return ChildReferences().capture(reference, tmp_path)


@pytest.mark.parametrize(
    ("body", "ops"),
    [
        ("y = tl.exp(x) * 2.0", ["exp", "mul"]),
        ("y = 1.0 - tl.sigmoid(x)", ["sigmoid", "rsub"]),
        ("y = x / tl.sqrt(tl.sum(x * x, axis=0) / n + 1e-6)",
         ["mul", "sum", "div", "add", "sqrt", "div"]),
        ("y = tl.maximum(x, 0.0)", ["clamp"]),
    ],
)  # fmt: skip
def test_a_row_wise_kernel_becomes_a_graph(tmp_path, body, ops):
    capture = captured(tmp_path, body)

    assert capture.no_graph_because == ""
    assert [n.op.split(".")[1] for n in capture.graph.nodes] == ops
    assert [i.name for i in capture.inputs] == ["x"]


def test_a_construct_that_has_no_place_in_a_graph_is_named(tmp_path):
    capture = captured(tmp_path, "y = tl.cumsum(x, axis=0)")

    assert capture.graph is None
    assert "'tl.cumsum(x, axis=0)'" in capture.no_graph_because


def test_a_reading_that_the_interpreter_contradicts_is_not_trusted(tmp_path):
    capture = captured(tmp_path, "y = x + tl.sum(x + 1.0, axis=0)")

    assert capture.graph is None
    assert "does not give its output 0" in capture.no_graph_because


BARE = KERNEL[: KERNEL.index("def run")].replace("{body}", "y = x * 2.0")
ROLES = [
    {"name": "out_ptr", "role": "output", "like": {"name": "y", "shape": [8, 50]}},
    {"name": "x_ptr", "role": "input"},
    {"name": "stride", "role": "scalar", "value": "x_ptr.stride(0)"},
    {"name": "n", "role": "scalar", "value": "x_ptr.shape[1]"},
    {"name": "BLOCK", "role": "scalar", "value": 64},
]


def bare(tmp_path, **changes):
    (tmp_path / "kernel.py").write_text(BARE)
    asked = {
        "kind": "triton_grid", "file": "kernel.py", "symbol": "kernel",
        "inputs": [{"name": "x", "shape": [8, 50]}], "grid": ["x_ptr.shape[0]"], "roles": ROLES,
    }  # fmt: skip
    return ChildReferences().capture(Reference.model_validate(asked | changes), tmp_path)


def test_a_kernel_without_a_launch_works_with_a_grid_and_the_roles_of_its_arguments(tmp_path):
    capture = bare(tmp_path)

    assert [n.op for n in capture.graph.nodes] == ["aten.mul.Tensor"]
    assert [(i.name, i.shape) for i in capture.inputs] == [("x", (8, 50))]
    assert [o.shape for o in capture.outputs] == [(8, 50)]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"grid": []}, "give 'grid' and the 'roles'"),
        ({"grid": ["nothing.shape[0]"]}, "is no expression over x_ptr"),
        ({"roles": [{"name": "out_ptr", "role": "output"}, *ROLES[1:]]}, "needs 'like'"),
        ({"roles": [ROLES[0], *ROLES[2:]]}, "1 inputs for the roles"),
    ],
)
def test_what_a_bare_kernel_lacks_is_named(tmp_path, changes, said):
    with pytest.raises(CaptureFailed, match=said):
        bare(tmp_path, **changes)
