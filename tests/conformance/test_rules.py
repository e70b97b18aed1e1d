"""Every rule is broken by one kernel and kept by its twin."""

import re
from pathlib import Path

import numpy as np
import pytest

from nkiport.nki.codes import CODES
from nkiport.simulator import Options, check, simulate
from tests.conformance.rules import FILES, RULES

ROOT = Path(__file__).parents[2]
HEAD = """import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
import math


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
"""
TAIL = "    return out\n"


def found_in(source):
    found = check(source)
    if not any(each.severity == "error" for each in found):
        x = np.random.default_rng(0).standard_normal((128, 16)).astype(np.float32)
        limits = Options(max_seconds=5, max_instructions=10_000)
        found = simulate(source, {"x": x}, options=limits).findings
    return {each.code: each for each in found if each.severity == "error"}


def codes(lines):
    body = "".join(f"    {line}\n" for line in lines.split("\n"))
    stored = "" if "nl.store" in lines else "    nl.store(out, t)\n"
    return found_in(HEAD + body + stored + TAIL)


@pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
def test_a_rule_is_broken_by_a_kernel_and_kept_by_its_twin(rule):
    broken, kept = codes(rule.breaks), codes(rule.keeps)

    assert rule.code in broken, broken
    finding = broken[rule.code]
    assert finding.line is not None
    assert finding.asked
    assert rule.code not in kept


@pytest.mark.parametrize("rule", FILES, ids=[rule.code for rule in FILES])
def test_a_rule_of_files_is_broken_by_one_and_kept_by_its_twin(rule):
    broken, kept = found_in(rule.breaks), found_in(rule.keeps)

    assert rule.code in broken, broken
    assert broken[rule.code].asked
    assert kept == {}


def test_every_code_of_the_simulator_has_its_twins():
    sources = [
        path
        for folder in ("nkiport/nki", "nkiport/simulator")
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "codes.py"
    ]
    said = {code for path in sources for code in re.findall(r'"(err_\w+)"', path.read_text())}

    said |= {f"err_{buffer}_capacity" for buffer in ("sbuf", "psum")}
    assert set(CODES) == said
    assert said == {rule.code for rule in (*RULES, *FILES)}
