"""Triton kernels: what their text says, trusted only where Triton's interpreter agrees."""

import pytest

from nkiport.capture import ChildReferences
from nkiport.contracts.capture import Reference

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
