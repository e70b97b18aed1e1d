"""What a file of one's own imports: names we do not have, files beside it, its own place."""

import numpy as np
import pytest

from nkiport.simulator import Launch, Options, simulate

X = np.random.default_rng(0).standard_normal((128, 16)).astype(np.float32)
HEAD = """from neuronxcc import nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.isa as nisa
"""
KERNEL = """

@nki.jit
def kernel(x, missing=False):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, {value})
    return out
"""
UNKNOWN = """from neuronxcc.starfish.support.dtype import bfloat16, to_numpy
from neuronxcc.nki.language.constants import sizeinbytes
from neuronxcc.nki.language import not_there_yet
from neuronxcc.nki._private.private_api import fma
import neuronxcc.nki._private.private_api as private
import neuronxcc.nki._pre_prod_kernels.util
"""


def ran(text, file_name="candidate.py", **arguments):
    options = Options(own=True, file_name=str(file_name))
    return simulate(text, {"x": X}, options=options, launch=Launch("kernel", (), arguments))


def value(text):
    return HEAD + KERNEL.format(value=text)


def test_names_we_do_not_have_may_be_imported():
    done = ran(UNKNOWN + value("nl.load(x)"))

    assert done.findings == ()
    np.testing.assert_array_equal(done.outputs[0], X)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("sizeinbytes(nl.float32)", "neuronxcc.nki.language.constants.sizeinbytes"),
        ("private.fma(x)", "neuronxcc.nki._private.private_api.fma"),
        ("not_there_yet(x)", "neuronxcc.nki.language.not_there_yet"),
    ],
)
def test_names_we_do_not_have_fail_where_they_are_called(call, name):
    (finding,) = ran(UNKNOWN + value(call)).findings

    assert finding.code == "err_import"
    assert name in finding.asked
    assert finding.line == 15


def test_a_name_of_another_chip_is_missed_only_where_it_is_used():
    text = value("nisa.only_later(x) if missing else nl.load(x)")

    assert ran(text).findings == ()
    (finding,) = ran(text, missing=True).findings
    assert (finding.code, finding.line) == ("err_unknown_name", 9)


def test_a_kernel_may_ask_whether_there_is_a_name():
    done = ran(value("nisa.only_later(x) if hasattr(nisa, 'only_later') else nl.load(x)"))

    assert done.findings == ()
    assert done.outputs


@pytest.fixture
def folder(tmp_path):
    files = {
        "twice.py": "import neuronxcc.nki.language as nl\n\n\n"
                    "def twice(t):\n    while True:\n        return nl.multiply(t, 2.0)\n",
        "parts/__init__.py": "from .inner import plus_one\n",
        "parts/inner.py": "import neuronxcc.nki.language as nl\nfrom ..twice import twice\n\n\n"
                          "def plus_one(t):\n    return nl.add(twice(t), 1.0)\n",
        "loose/more.py": "STEP = 0.5\n",
    }  # fmt: skip
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("imports", "call", "want"),
    [
        ("from twice import twice", "twice(nl.load(x))", 2 * X),
        ("from .twice import twice", "twice(nl.load(x))", 2 * X),
        ("import twice as t", "t.twice(nl.load(x))", 2 * X),
        ("from parts import plus_one", "plus_one(nl.load(x))", 2 * X + 1),
        ("import parts.inner", "parts.inner.plus_one(nl.load(x))", 2 * X + 1),
        ("from parts.inner import *", "plus_one(nl.load(x))", 2 * X + 1),
        ("from . import twice", "twice.twice(nl.load(x))", 2 * X),
        ("from loose.more import STEP", "nl.add(nl.load(x), STEP)", X + 0.5),
        ("from pathlib import Path", "nl.add(nl.load(x), len(Path(__file__).stem))", X + 8),
    ],
)
def test_a_file_imports_those_beside_it(folder, imports, call, want):
    path = folder / "attended.py"
    text = f"{imports}\n{value(call)}"
    path.write_text(text)

    done = ran(text, path)

    assert [each.sentence() for each in done.findings] == []
    np.testing.assert_allclose(done.outputs[0], want, rtol=1e-6)


def test_a_file_that_is_not_beside_it_is_named_where_it_is_called(folder):
    path = folder / "attended.py"
    path.write_text("")

    (finding,) = ran("from .gone import away\n" + value("away(x)"), path).findings

    assert finding.code == "err_import"
    assert "gone.away" in finding.asked


def test_the_files_beside_it_are_not_a_strangers(folder):
    path = folder / "attended.py"
    text = "from twice import twice\n" + value("twice(nl.load(x))")
    path.write_text(text)

    done = simulate(text, {"x": X}, options=Options(file_name=str(path)))

    assert [each.code for each in done.findings] == ["err_import"]
