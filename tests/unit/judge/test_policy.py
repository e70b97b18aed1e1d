"""The static policy: what leads from a kernel's objects to their values is not permitted."""

import numpy as np
import pytest

from nkiport.contracts.tensors import InputSpec
from nkiport.judge.permitted import importable, permitted
from nkiport.judge.policy import policy
from nkiport.simulator.host import HostTensor
from nkiport.simulator.index import Grid, Index, Mask
from nkiport.simulator.launch import Kernel
from nkiport.simulator.machine import Machine
from nkiport.simulator.memory import Tile
from nkiport.simulator.namespace import BoundOp
from nkiport.simulator.storage import Storage

KERNEL = """import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    tile = nl.load(x)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.exp(tile))
    return out
"""
X = (InputSpec(name="x", shape=(4, 4)),)
SHAPES_AND_VIEWS = {
    "shape", "dtype", "ndim", "itemsize", "size", "astype", "broadcast_to", "expand_dims",
    "reshape", "view", "assert_shape", "flatten", "ravel", "squeeze", "unsqueeze", "contiguous",
    "p", "x", "y", "z", "count", "index",
}  # fmt: skip


def codes(source, inputs=X):
    return [finding.code for finding in policy(source, inputs).findings]


def test_an_honest_kernel_obeys():
    assert codes(KERNEL) == []


@pytest.mark.parametrize("kind", [HostTensor, Tile, Storage, Index, Mask, Grid, Kernel, BoundOp])
def test_what_a_candidate_holds_answers_with_shapes_and_views_only(kind):
    public = {name for name in dir(kind) if not name.startswith("_")}

    assert public & permitted() <= SHAPES_AND_VIEWS


def test_nothing_permitted_leads_to_the_machine_files_or_raw_memory():
    ways = {"machine", "storage", "values", "over", "operand", "function", "op", "raw", "execute",
            "tofile", "dump", "data", "ctypes", "base", "gi_frame", "f_back", "format",
            "format_map", "fromfile", "load_library"}  # fmt: skip

    assert not ways & permitted()
    assert all(hasattr(np.ndarray, name) for name in ("tofile", "dump", "ctypes"))
    assert hasattr(Machine, "execute")


@pytest.mark.parametrize("module", ["os", "neuronxcc.driver", "nki.runtime", "numpy.lib", "torch"])
def test_a_module_that_no_kernel_needs_is_not_importable(module):
    assert not importable(module)
    assert "policy_import" in codes(f"import {module}\n{KERNEL}")


@pytest.mark.parametrize(
    "line",
    ["import neuronxcc.nki.isa as nisa", "from neuronxcc.nki import isa", "import math",
     "from neuronxcc.nki.language import load", "from __future__ import annotations"],
)  # fmt: skip
def test_the_dialects_modules_and_math_are_importable(line):
    assert codes(f"{line}\n{KERNEL}") == []


def test_a_name_that_the_language_lacks_is_left_to_the_checker_which_knows_the_nearest():
    assert codes(KERNEL.replace("nl.exp", "nl.expo")) == []


def test_every_finding_comes_at_once_with_its_line():
    found = policy("import os\n" + KERNEL.replace("nl.exp(tile)", "tile.storage"), X).findings

    assert [(each.code, each.line) for each in found] == [("policy_import", 1), ("policy_name", 10)]


@pytest.mark.parametrize("source", ["def (", "\0", "(" * 5000, "x = " + "-" * 100_000 + "1"])
def test_text_that_is_not_python_is_a_finding_and_no_crash(source):
    assert codes(source) == ["policy_syntax"]


def test_a_kernel_that_no_path_from_forward_reaches_is_not_launched():
    reached = KERNEL + "\n\ndef helper(x):\n    return kernel(x)\n\n\ndef forward(x):\n    return "

    assert codes(reached + "helper(x)\n") == []
    assert codes(reached + "x\n") == ["policy_no_launch"]


def test_the_parameters_are_the_captured_inputs_and_may_have_defaults_beyond_them():
    assert codes(KERNEL, (*X, InputSpec(name="w", shape=(4,)))) == ["policy_signature"]
    assert codes(KERNEL.replace("kernel(x)", "kernel(x, eps=1e-5)")) == []
