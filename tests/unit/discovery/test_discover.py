"""What a walk finds, says is missing, and leaves alone."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nkiport.discovery import discover
from nkiport.discovery.cuda import cuda_file
from nkiport.discovery.found import Skip
from nkiport.discovery.python import python_file

EXAMPLES = Path(__file__).parents[3] / "examples"
MODULE = """import torch


class Block(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x @ x.T, -1)
"""
KERNEL = """import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, BLOCK: tl.constexpr):
    pass
"""


def tree(tmp_path, **files):
    for name, text in files.items():
        path = tmp_path / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".py").write_text(text)
    return tmp_path


def test_the_examples_hold_exactly_three_kernels_and_nothing_is_missing():
    found = discover(EXAMPLES)

    assert {(k.name, k.kind) for k in found.kernels} == {
        ("softmax_kernel", "triton"), ("rmsnorm_kernel", "cuda"), ("RMSNorm", "module"),
    }  # fmt: skip
    assert all(k.missing == () for k in found.kernels)
    assert [k.rank for k in found.kernels] == sorted((k.rank for k in found.kernels), reverse=True)


def test_a_kernel_is_found_where_it_is_with_its_launch():
    softmax = next(k for k in discover(EXAMPLES).kernels if k.kind == "triton")
    lines = (EXAMPLES / softmax.file).read_text().splitlines()

    assert lines[softmax.line - 1].startswith("def softmax_kernel(")
    assert softmax.launcher == "triton_softmax.py:softmax"
    (launch,) = softmax.launches
    assert "softmax_kernel[" in lines[int(launch.split(":")[1].split()[0]) - 1]


def test_the_class_beside_a_cuda_kernel_is_its_reference_and_no_kernel_of_its_own():
    found = discover(EXAMPLES)
    cuda = next(k for k in found.kernels if k.kind == "cuda")

    assert cuda.proposed_reference == "cuda_rmsnorm.py:RMSNorm"
    assert [k.file for k in found.kernels if k.kind == "module"] == ["torch_rmsnorm.py"]


def test_a_triton_file_without_a_launch_is_told_the_missing_line(tmp_path):
    (kernel,) = discover(tree(tmp_path, add=KERNEL)).kernels

    assert "'add_kernel[grid](...)'" in kernel.missing[0]
    assert "def get_inputs():" in kernel.missing[1]


def test_a_module_without_inputs_is_told_what_to_add(tmp_path):
    (kernel,) = discover(tree(tmp_path, block=MODULE)).kernels

    (said,) = kernel.missing
    assert "add 'def get_inputs():' that returns a list of tensors" in said


def test_vendored_folders_links_and_generated_files_are_left_alone_and_listed(tmp_path):
    tree(tmp_path, mine=MODULE, vendor__a=MODULE, made="# @generated\n" + MODULE)
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    (tmp_path / "out").symlink_to("/etc")

    found = discover(tmp_path)

    assert [k.file for k in found.kernels] == ["mine.py"]
    assert {s.file: s.reason for s in found.skipped} == {
        "vendor": "a vendored or generated folder", "made.py": "it says that it was generated",
        "link.py": "a link", "out": "a link to a folder",
    }  # fmt: skip


def test_a_file_that_does_not_parse_is_listed_and_stops_nothing(tmp_path):
    found = discover(tree(tmp_path, good=MODULE, bad="def f(:\n"))

    assert [k.file for k in found.kernels] == ["good.py"]
    assert found.skipped[0].file == "bad.py"
    assert "does not parse" in found.skipped[0].reason


def test_a_hundred_thousand_lines_are_read(tmp_path):
    found = discover(tree(tmp_path, long=MODULE + "x = 1\n" * 100_000))

    assert [k.name for k in found.kernels] == ["Block"]


def test_two_kernels_of_one_name_get_two_ids(tmp_path):
    found = discover(tree(tmp_path, a=MODULE, b=MODULE))

    assert sorted(k.kernel_id for k in found.kernels) == ["block", "block-2"]


def test_an_nki_kernel_is_listed_apart(tmp_path):
    text = "import neuronxcc.nki as nki\n\n\n@nki.jit\ndef done(x):\n    return x\n"
    found = discover(tree(tmp_path, done=text))

    assert found.kernels == ()
    assert [k.name for k in found.already_nki] == ["done"]


def test_a_cuda_file_gives_its_global_functions_alone():
    text = "__device__ int f() { return 1; }\ntemplate<int N>\n__global__ void k(float* x) {}\n"
    (kernel,) = cuda_file(text, "a.cu")

    assert (kernel.name, kernel.line) == ("k", 3)
    assert "a reference" in kernel.missing[0]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_no_text_breaks_a_reader(text):
    with suppress(Skip):
        assert isinstance(python_file(text, "x.py"), list)
    assert isinstance(cuda_file(text, "x.cu"), list)


@pytest.mark.parametrize("deep", ["(" * 5000, "x = " + "-" * 50_000 + "1"])
def test_a_file_nested_without_end_is_skipped(tmp_path, deep):
    found = discover(tree(tmp_path, deep=deep, good=MODULE))

    assert [k.name for k in found.kernels] == ["Block"]
    assert [s.file for s in found.skipped] == ["deep.py"]
