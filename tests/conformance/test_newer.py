"""The newer dialect: destinations are given, and the meaning is the same."""

import numpy as np
import pytest

from nkiport.simulator import check, simulate
from tests.conformance.kernels import inputs
from tests.conformance.newer import NEWER

HEAD = """import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, y, whole, column):
    a, b, i, c = nl.load(x), nl.load(y), nl.load(whole), nl.load(column)
"""
TAIL = """    out = nl.ndarray(r.shape, dtype=r.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=r)
    return out
"""


def ran(body, target="trn2"):
    g = inputs()
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    given = {"x": g.a, "y": g.b, "whole": g.i, "column": g.c}
    return g, simulate(HEAD + lines + TAIL, given, target=target)


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("name", sorted(NEWER))
def test_an_instruction_writes_what_numpy_says(name, target):
    body, oracle = NEWER[name]

    g, done = ran(body, target)

    assert [finding.sentence() for finding in done.findings] == []
    want = np.asarray(oracle(g)).astype(np.float64)
    np.testing.assert_allclose(done.outputs[0].astype(np.float64), want, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("r = nl.copy(a[nl.arange(64)[:, None], 0:4])", "err_unknown_name"),
        ("r = a.ap([[24, 64], [1, 25]])", "err_tensor_access_out_of_bound"),
        (
            (
                "p = nl.ndarray((24, 24), dtype=nl.float32, buffer=nl.psum)\n"
                "nisa.nc_matmul(dst=p, stationary=a, moving=b, accumulate=True)\nr = nl.copy(p)"
            ),
            "err_psum_accumulation",
        ),
        ("r = nl.copy(a)\nnisa.iota(dst=r, pattern=[[1, 23]])", "err_shape_mismatch"),
        ("r = a.permute((1, 0))", "err_unsupported_index"),
    ],
)
def test_what_the_dialect_does_not_have_or_allow_is_a_finding(body, code):
    _, done = ran(body)

    assert code in {finding.code for finding in done.findings}


def test_the_older_target_takes_the_older_dialect():
    found = check(HEAD + "    r = a\n" + TAIL, target="trn1")

    assert "err_wrong_dialect" in {finding.code for finding in found}
