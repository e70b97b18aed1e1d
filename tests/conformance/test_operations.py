"""Every function and instruction of the tables does what NumPy says."""

import numpy as np
import pytest

from nkiport.nki import OPS, target
from nkiport.nki.dtypes import DTYPES
from nkiport.simulator import Options, simulate
from nkiport.simulator.language import language
from nkiport.simulator.machine import Machine
from tests.conformance.constructs import CONSTRUCTS
from tests.conformance.corners import CORNERS
from tests.conformance.kernels import KERNELS, LATER, inputs

HEAD = """import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def kernel(x, y, whole, other, column, segments):
    P, F = nl.arange(64)[:, None], nl.arange(24)[None, :]
    a, b, i, j, c = nl.load(x), nl.load(y), nl.load(whole), nl.load(other), nl.load(column)
    ids = nl.load(segments)
"""
TAIL = """    out = nl.ndarray(r.shape, dtype=r.dtype, buffer=nl.shared_hbm)
    nl.store(out, r)
    return out
"""


def ran(body):
    g = inputs()
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    ids = np.sort(g.i[:1]).astype(np.float32)
    given = {"x": g.a, "y": g.b, "whole": g.i, "other": g.j, "column": g.c, "segments": ids}
    return g, simulate(HEAD + lines + TAIL, given)


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_an_operation_does_what_numpy_says(name):
    body, oracle = KERNELS[name]

    g, done = ran(body)

    assert [finding.sentence() for finding in done.findings] == []
    want = np.asarray(oracle(g))
    got = done.outputs[0].astype(np.float64).reshape(want.shape)
    np.testing.assert_allclose(got, want.astype(np.float64), rtol=2e-5, atol=2e-6)
    assert name in {each.op for each in done.trace.instructions}


@pytest.mark.parametrize("name", sorted(CONSTRUCTS | CORNERS))
def test_a_construct_means_what_numpy_says(name):
    body, oracle = (CONSTRUCTS | CORNERS)[name]

    g, done = ran(body)

    assert [finding.sentence() for finding in done.findings] == []
    want = np.asarray(oracle(g)).astype(np.float64)
    np.testing.assert_allclose(done.outputs[0].astype(np.float64), want, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", sorted(LATER))
def test_an_instruction_of_later_chips_is_refused_by_name(name):
    _, done = ran(LATER[name][0])

    (finding,) = done.findings
    assert finding.code == "err_unsupported_instruction"
    assert name.split(".")[1] in finding.asked


def test_every_operation_of_the_tables_has_its_kernel():
    assert set(OPS) == {*KERNELS, *LATER}


def test_every_other_name_of_the_language_is_in_a_kernel():
    names = set(language(Machine(target("trn1"), Options())).__dict__)
    others = {n for n in names if not n.startswith("_")} - {op.partition(".")[2] for op in OPS}
    text = " ".join(body for body, _ in (*KERNELS.values(), *CONSTRUCTS.values()))

    assert {name for name in others - set(DTYPES) if f"nl.{name}" not in text} == set()
