"""Kernels that would never end, or take all there is, end in a finding that says which limit."""

import numpy as np
import pytest

from nkiport.simulator import Options, check, simulate

HEAD = """import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
"""
TAIL = "    nl.store(out, t)\n    return out\n"
X = np.zeros((128, 16), np.float32)
LIMITS = Options(max_iterations=20_000, max_instructions=5_000, max_bytes=2**26, max_seconds=20)
LONG = "range(10**15)"
ENDLESS = {
    "while": "while True:\n    pass",
    "while in a function": "def f():\n    while t.shape:\n        y = 1\nf()",
    "while that goes on": "while True:\n    continue",
    "a loop that does nothing": f"for k in {LONG}:\n    pass",
    "an affine loop": "for k in nl.affine_range(10**15):\n    pass",
    "a static loop": "for k in nl.static_range(10**15):\n    y = k",
    "a sequential loop": "for k in nl.sequential_range(0, 10**15, 2):\n    y = k",
    "instructions": "for k in nl.affine_range(10**9):\n    u = nl.exp(t)",
    "loops in loops": (
        "for k in range(1000):\n    for l in range(1000):\n        for m in range(1000):\n"
        "            y = m"
    ),
    "a comprehension": f"y = [k for k in {LONG}]",
    "comprehensions in comprehensions": (
        "y = [[[[m for m in range(99)] for l in range(99)] for k in range(99)] for j in range(99)]"
    ),
    "a set": f"y = {{k for k in {LONG}}}",
    "a dictionary": f"y = {{k: k for k in {LONG}}}",
    "a generator that is summed": f"y = sum(k for k in {LONG})",
    "generators on generators": (
        f"a = (k for k in {LONG})\nb = (k + 1 for k in a)\ny = max(k for k in b)"
    ),
    "a list": f"y = list({LONG})",
    "a sorted range": f"y = sorted({LONG})",
    "a map": f"y = tuple(map(abs, {LONG}))",
    "a zip": f"y = list(zip({LONG}, {LONG}))",
    "an enumeration": f"y = dict(enumerate({LONG}))",
    "a reversed range": f"y = [k for k in reversed({LONG})]",
    "any": f"y = any(k < 0 for k in {LONG})",
    "unpacking": f"y = [*{LONG}]",
    "recursion": "def f(n):\n    return f(n + 1)\nf(0)",
    "recursion of a lambda": "f = lambda g: g(g)\nf(f)",
    "recursion of the kernel": "kernel(x)",
    "tensors of blocks": "y = nl.ndarray((10**9, nl.par_dim(128), 16), dtype=nl.float32)",
    "a tensor in HBM": "y = nl.ndarray((2**20, 2**20), nl.float32, buffer=nl.private_hbm)",
    "tensors that are kept": (
        "y = []\nfor k in range(1000):\n    y.append(nl.ndarray((128, 512), nl.float32, "
        "buffer=nl.private_hbm))"
    ),
}  # fmt: skip


def found(body):
    source = HEAD + "".join(f"    {line}\n" for line in body.split("\n")) + TAIL
    return simulate(source, {"x": X}, options=LIMITS).findings


@pytest.mark.parametrize("name", ENDLESS)
def test_what_never_ends_or_takes_all_there_is_reaches_a_limit(name):
    errors = [each for each in found(ENDLESS[name]) if each.severity == "error"]

    assert [each.code for each in errors] == ["err_limit_reached"], errors
    assert errors[0].line
    assert errors[0].asked


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("y = nl.ndarray((128, 10**9), dtype=nl.float32)", "err_sbuf_capacity"),
        ("y = nl.zeros((10**9, 4), dtype=nl.float32)", "err_num_partition_exceed_arch_limit"),
        ("def f():\n    yield 1\n    yield from f()\ny = sum(f())", "err_unsupported_python"),
        ("try:\n    t = t + t\nexcept Exception:\n    t = t", "err_unsupported_python"),
        ("y = iter(int, 1)", "err_python"),
        ("y = __import__('os')", "err_unsupported_python"),
        ("y = ().__class__", "err_unsupported_python"),
    ],
)
def test_what_a_strangers_kernel_may_not_do_at_all(body, code):
    assert code in {each.code for each in found(body) if each.severity == "error"}


@pytest.mark.parametrize(
    "text",
    ["y = " + "(" * 5_000 + "1" + ")" * 5_000, "y = " + "-" * 200_000 + "1",
     "y = " + "+".join(["1"] * 200_000), "y = " + "[" * 90 + "]" * 90 + "\n" + "if y:\n" * 500],
    ids=["brackets", "signs", "a sum", "blocks without an end"],
)  # fmt: skip
def test_a_text_that_is_nested_too_deeply_is_a_finding(text):
    done = simulate(f"{text}\n" + HEAD + TAIL, {"x": X}, options=LIMITS)

    assert not done.ok
    assert done.findings[0].code in {"err_syntax", "err_limit_reached"}


def test_a_file_is_checked_as_far_as_it_can_be_read():
    assert check("\x00")[0].code == "err_syntax"
