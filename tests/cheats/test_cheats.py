"""Every way of faking a verdict that can be tried without a device, and the check that stops it."""

import pytest

HEAD = """import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
"""
KERNEL = (
    HEAD
    + """

@nki.jit
def relu_kernel(x, weight, bias):
    rows, cols = x.shape
    out = nl.ndarray((rows, cols), dtype=nl.float32, buffer=nl.shared_hbm)
    i_p = nl.arange(128)[:, None]
    i_f = nl.arange(cols)[None, :]
    i_1 = nl.arange(1)[:, None]
    w = nl.broadcast_to(nl.load(weight[i_1, i_f]), shape=(128, cols))
    b = nl.broadcast_to(nl.load(bias[i_1, i_f]), shape=(128, cols))
    for t in nl.affine_range(2):
        row = t * 128 + i_p
        tile = nl.load(x[row, i_f], mask=row < rows)
        nl.store(out[row, i_f], nl.relu(tile * w + b), mask=row < rows)
    return out


def forward(x, weight, bias):
    return relu_kernel(x, weight.reshape((1, 96)), bias.reshape((1, 96)))
"""
)


def changed(old, new):
    assert old in KERNEL
    return KERNEL.replace(old, new)


COMPUTED = "nl.relu(tile * w + b)"
RETURNED = "    return relu_kernel(x, weight.reshape((1, 96)), bias.reshape((1, 96)))"


def decoy(ending):
    """Launch a kernel that reads everything, and end otherwise."""
    return changed(RETURNED, RETURNED.replace("return ", "y = ") + "\n" + ending)


CHEATS = {
    "identity": (changed(COMPUTED, "nl.copy(tile)"), "numbers"),
    "zeros": (changed(COMPUTED, "tile * 0.0"), "numbers"),
    "one constant": (changed(COMPUTED, "tile * 0.0 + 0.4"), "numbers"),
    "the weight is taken for 1": (changed("tile * w + b", "tile + b"), "numbers"),
    "the bias is taken for 0": (changed("tile * w + b", "tile * w"), "numbers"),
    "the activation is left out": (changed(COMPUTED, "tile * w + b"), "numbers"),
    "the last rows are not written": (
        changed("nl.affine_range(2)", "nl.affine_range(1)"),
        "compile",
    ),
    "one element is wrong": (
        changed(
            "    return out\n",
            "    nl.store(out[7:8, 5:6], nl.load(x[7:8, 5:6]) * 0.0 + 9.0)\n    return out\n",
        ),
        "numbers",
    ),
    "another dtype": (changed("dtype=nl.float32", "dtype=nl.bfloat16"), "numbers"),
    "another shape": (
        changed(RETURNED, RETURNED + ".reshape((96, 200))"),
        "numbers",
    ),
    "two outputs": (
        changed(RETURNED, RETURNED.replace("return ", "y = ") + "\n    return y, y"),
        "numbers",
    ),
    "the input is returned after a decoy launch": (
        changed(RETURNED, RETURNED.replace("return ", "y = ") + "\n    return x"),
        "numbers",
    ),
    "the host computes": (
        changed(RETURNED, RETURNED.replace("return ", "y = ") + "\n    return x * weight + bias"),
        "compile",
    ),
    "the input is overwritten": (
        changed("    return out\n", "    nl.store(x[0:1, 0:1], 0.0)\n    return out\n"),
        "compile",
    ),
    "the reference is imported": ("import relu\n" + KERNEL, "policy"),
    "the framework is imported": ("import torch\n" + KERNEL, "policy"),
    "the seed is replayed": (
        "import numpy as np\n"
        + changed(RETURNED, "    rng = np.random.default_rng(0)\n" + RETURNED),
        "policy",
    ),
    "a file is read": (changed(RETURNED, "    open('inputs.bin')\n" + RETURNED), "policy"),
    "frames are walked": ("import sys\n" + KERNEL, "policy"),
    "the interpreter is reached into": (
        changed(RETURNED, "    ().__class__.__base__\n" + RETURNED),
        "policy",
    ),
    "the host reads values behind a decoy launch": (
        decoy("    y._values[...] = x._values * weight._values\n    return y"),
        "policy",
    ),
    "a class pattern reads values": (
        decoy("    match x:\n        case object(_values=v):\n            return v\n    return y"),
        "policy",
    ),
    "a kernel reads values": (
        changed("tile * w + b", "nl.copy(tile).values() * w + b"),
        "policy",
    ),
    "a constant is made of a tile": (
        changed(COMPUTED, "nl.load(nl.shared_constant(tile))"),
        "compile",
    ),
    "the simulator's findings are cleared": (
        decoy("    nl.load._machine.findings.clear()\n    return y"),
        "policy",
    ),
    "frames are walked from a generator": (
        decoy("    (i for i in [1]).gi_frame.f_back.f_globals\n    return y"),
        "policy",
    ),
    "a text follows dots": (decoy("    '{0._values}'.format(x)\n    return y"), "policy"),
    "a class is made": (decoy("    return type(y)(y)"), "policy"),
    "a library is kept for where no judge looks": (
        "import numpy as np\n"
        + changed(RETURNED, "    if x.ndim > 7:\n        np.fromfile('w')\n" + RETURNED),
        "policy",
    ),
    "another part of the compiler is imported": ("import neuronxcc.driver\n" + KERNEL, "policy"),
    "a library's function is imported alone": (
        changed(RETURNED, "    from numpy import fromfile\n" + RETURNED),
        "policy",
    ),
    "a tensor takes a module's name": (
        changed(RETURNED, "    nl = x\n    nl.data\n" + RETURNED),
        "policy",
    ),
    "an output is kept for later calls": (
        changed(
            RETURNED,
            "    if not KEPT:\n        KEPT.append(relu_kernel(x, weight.reshape((1, 96)),"
            " bias.reshape((1, 96))))\n    return KEPT[0]",
        ).replace("\n\n@nki.jit", "\nKEPT = []\n\n\n@nki.jit", 1),
        "policy",
    ),
    "only the first call is honest": (
        changed("def forward(x, weight, bias):", "def forward(x, weight, bias, calls=[]):").replace(
            RETURNED, "    calls.append(1)\n    if len(calls) > 1:\n        return x\n" + RETURNED
        ),
        "policy",
    ),
    "an output is kept on the function": (
        changed(RETURNED, RETURNED.replace("return ", "forward.x = ") + "\n    return forward.x"),
        "policy",
    ),
    "names are hidden": (changed(RETURNED, "    getattr(nl, 'load')\n" + RETURNED), "policy"),
    "code is made from text": (changed(RETURNED, "    exec('1')\n" + RETURNED), "policy"),
    "the process ends early": ("import os\n" + KERNEL, "policy"),
    "no kernel is there": (HEAD + "\n\ndef forward(x, weight, bias):\n    return x\n", "policy"),
    "no kernel is launched": (changed(RETURNED, "    return x"), "policy"),
    "the parameters are others": (
        changed("def forward(x, weight, bias):", "def forward(x, weight, bias, golden):"),
        "policy",
    ),
    "errors are swallowed": (
        changed(
            RETURNED, "    try:\n    " + RETURNED + "\n    except ValueError:\n        return x"
        ),
        "compile",
    ),
    "it never ends": (changed(RETURNED, "    while True:\n        y = 1\n" + RETURNED), "compile"),
    "it calls itself": (changed(RETURNED, "    return forward(x, weight, bias)"), "policy"),
    "it takes all memory": (
        changed(RETURNED, "    y = [0] * 10**11\n" + RETURNED),
        "compile",
    ),
}


def test_the_honest_kernel_is_accepted(court):
    verdict = court.judge(KERNEL)

    assert verdict.outcome == "accepted", verdict.feedback
    assert verdict.level == "functional"


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_rejected_by_the_check_that_is_there_for_it(court, name):
    source, stage = CHEATS[name]

    verdict = court.judge(source)

    assert verdict.outcome == "rejected"
    assert verdict.first_failure is not None
    assert verdict.first_failure.stage == stage, verdict.feedback
    assert verdict.feedback


def test_what_a_candidate_prints_decides_nothing(court):
    verdict = court.judge(changed(COMPUTED, "nl.copy(tile)") + "\nprint('accepted', 'passed')\n")

    assert verdict.outcome == "rejected"


def test_a_candidate_that_was_exchanged_after_it_was_generated_is_refused(court):
    from nkiport.contracts import keys
    from nkiport.contracts.steps import JudgeRequest
    from nkiport.jobs.judge import judge
    from nkiport.local.loop import JOB
    from nkiport.local.loop import KERNEL as NAME

    court.judge(KERNEL)
    number = max(
        int(key.split("/")[5])
        for key in court.bench.artifacts.keys(f"jobs/{JOB}/kernels/{NAME}/attempts/")
    )
    verdict_key = keys.verdict(JOB, NAME, number)
    court.bench.artifacts._data.pop(verdict_key)
    court.bench.artifacts.put(keys.candidate(JOB, NAME, number), b"# another\n")
    attempt = court.bench.records._data[(f"JOB#{JOB}", f"ATTEMPT#{NAME}#{number:04d}")]
    court.bench.records._data[(attempt.partition(), attempt.sort())] = attempt.model_copy(
        update={"status": "generated", "accepted": False}
    )

    result = judge(
        JudgeRequest(job_id=JOB, kernel_id=NAME, attempt=number),
        records=court.bench.records, artifacts=court.bench.artifacts, clock=None,
    )  # fmt: skip

    assert result.outcome == "again"
    assert "not the one that was generated" in result.reason
