"""Rules of the language: each with a kernel that breaks it, and what is said of it."""

import numpy as np
import pytest

from nkiport.simulator import Launch, Options, check, estimate, simulate

HEAD = """import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import math


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
"""


def source(*lines, head=HEAD):
    return head + "".join(f"    {line}\n" for line in (*lines, "return out"))


def ran(*lines, shape=(128, 16), **options):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    limits = Options(**({"max_seconds": 5} | options))
    return x, simulate(source(*lines), {"x": x}, options=limits)


def codes(done):
    return {finding.code for finding in done.findings}


def test_a_kernel_within_the_rules_has_no_finding_and_an_estimate():
    x, done = ran("nl.store(out, nl.exp(nl.load(x)))")

    assert done.ok
    np.testing.assert_allclose(done.outputs[0], np.exp(x), rtol=1e-5)
    cost = estimate(done.trace)
    assert 0 < cost.low_us <= cost.p50_us <= cost.high_us
    assert cost.floor_us <= cost.p50_us
    assert cost.bytes_read == cost.bytes_written == x.nbytes
    assert list(done.inputs_read) == ["x"]


LARGE = "nl.ndarray((128, 30_000), dtype=nl.float32)"
"""Of one of these 120,000 bytes are alive in a partition, which has 180,224."""


@pytest.mark.parametrize("made", [LARGE, "nl.ndarray((8, nl.par_dim(128), 30_000), nl.float32)[0]"])
def test_a_tensor_that_a_loop_makes_anew_takes_the_room_of_the_one_before(made):
    _, done = ran(
        "for i in nl.affine_range(4):",
        f"    large = {made}",
        "    large[0:128, 0:16] = nl.load(x)",
        "nl.store(out, large[0:128, 0:16])",
    )

    assert done.findings == ()


def test_tensors_that_are_alive_together_and_pass_a_partition_are_a_warning():
    _, done = ran(
        f"first, second = {LARGE}, {LARGE}",
        "first[0:128, 0:16] = nl.load(x)",
        "second[0:128, 0:16] = nl.load(x)",
        "nl.store(out, nl.add(first[0:128, 0:16], second[0:128, 0:16]))",
    )

    (finding,) = done.findings
    assert (finding.code, finding.severity) == ("err_sbuf_capacity", "warning")
    assert (finding.line, finding.asked) == (12, "240064 bytes per partition are alive")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("nl.store(out, nl.load(x[0:128, 8:24]))",), "out_of_bound"),
        (("nl.store(out, nl.nothing(nl.load(x)))",), "nothing"),
        (("nl.store(out, nl.load(x)[:, 0:8])",), "shape"),
        (("t = nl.zeros((256, 4), dtype=nl.float32)",), "partition"),
        (("t = nl.zeros((128, 1000000), dtype=nl.float32)",), "sbuf"),
        (("nl.store(x, nl.load(x))",), "immutable"),
        (("nl.store(out[0:64], nl.load(x[0:64]))",), "output_not_written"),
        (("t = nl.ndarray((128, 16), dtype=nl.float32)", "nl.store(out, t)"), "undefined"),
        (("nl.store(out, nl.load(x) if nl.load(x) > 0 else nl.load(x))",), "dynamic_control_flow"),
    ],
)
def test_a_broken_rule_is_a_finding_that_names_it_with_its_line(lines, said):
    _, done = ran(*lines)
    text = check_text(lines) + " ".join(finding.sentence() for finding in done.findings)

    assert not done.ok or check_text(lines)
    assert said in text.lower(), text


def check_text(lines):
    return " ".join(f.sentence() for f in check(source(*lines)) if f.severity == "error")


@pytest.mark.parametrize(
    "lines",
    [
        ("while True:", "    y = 1"),
        ("y = [0] * 10**11",),
        ("def again(n):", "    return again(n + 1)", "again(0)"),
        ("for i in range(10**12):", "    y = i"),
        ("y = 10 ** 10 ** 8",),
    ],
    ids=["forever", "memory", "recursion", "a long loop", "a large number"],
)
def test_a_hostile_kernel_ends_in_a_finding_within_its_limits(lines, tmp_path):
    from nkiport.contracts.tensors import InputSpec
    from nkiport.engines import FunctionalEngine
    from nkiport.sandbox import Limits

    engine = FunctionalEngine(limits=Limits(wall_seconds=4, cpu_seconds=4))
    checks = engine.compile(source(*lines), [InputSpec(name="x", shape=(128, 16))])

    failed = [each for each in checks if each.result == "failed"]
    assert failed
    assert failed[0].findings[0].code


@pytest.mark.parametrize(
    "text",
    ["import os", "from pathlib import Path", "import builtins"],
)
def test_other_modules_are_not_there(text):
    done = simulate(f"{text}\n" + source("nl.store(out, nl.load(x))"), {"x": np.zeros((1, 1))})

    assert not done.ok


def test_fresh_memory_is_poison_so_that_nothing_unwritten_passes():
    _, done = ran("nl.store(out[0:1, 0:1], nl.load(x[0:1, 0:1]))")

    assert np.isnan(done.outputs[0][1:]).all()


@pytest.mark.parametrize(
    ("value", "wanted"), [(0.5, 0), (1.5, 2), (2.5, 2), (-0.5, 0), (1e10, 127), (-1e10, -128)]
)
def test_a_cast_to_an_integer_rounds_to_even_and_saturates(value, wanted):
    text = source("nl.store(out, nl.load(x))").replace("dtype=x.dtype", "dtype=nl.int8")
    done = simulate(text, {"x": np.full((1, 1), value, np.float32)})

    assert done.ok, [f.sentence() for f in done.findings]
    assert int(done.outputs[0][0, 0]) == wanted


def test_the_checker_reports_every_finding_at_once_in_line_order():
    found = check("import os\nimport sys\n\n\nclass A:\n    pass\n")

    lines = [finding.line for finding in found if finding.line]
    assert len(found) >= 3
    assert lines == sorted(lines)


TWO = HEAD + "    nl.store(out, nl.load(x))\n    return out\n\n\ndef other(x, y):\n    return x\n"


@pytest.mark.parametrize(
    ("kernel", "code", "asked", "allowed"),
    [
        ("missing", "err_no_entry", "a function 'missing'", "those of the file: kernel, other"),
        ("other", "err_inputs", "1 tensors: missing a required argument: 'y'", "one for each of"),
    ],
)
def test_a_wrong_name_or_number_of_inputs_says_what_there_is(kernel, code, asked, allowed):
    done = simulate(TWO, {"x": np.ones((4, 4), np.float32)}, launch=Launch(kernel))

    (finding,) = done.findings
    assert (finding.code, finding.asked) == (code, asked)
    assert allowed in finding.allowed
