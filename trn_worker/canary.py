"""A kernel with a known answer: a worker whose engine gets it wrong takes no work."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from nkiport.contracts.tensors import InputSpec
from nkiport.jobs.ports import Engine

SHAPE = (128, 64)
KERNEL = '''"""Twice the input, plus one."""
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def canary(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.add(nl.multiply(nl.load(x), 2.0), 1.0))
    return out
'''


def canary(engine: Engine) -> str:
    """What is wrong with the engine's answer; empty if nothing is."""
    x = np.arange(SHAPE[0] * SHAPE[1], dtype=np.float32).reshape(SHAPE)
    failed = [c for c in engine.compile(KERNEL, [InputSpec(name="x", shape=SHAPE)])
              if c.result == "failed"]  # fmt: skip
    if failed:
        return f"canary failed: {failed[0].detail}"
    with TemporaryDirectory() as scratch:
        runs = engine.run(KERNEL, [{"x": x}], Path(scratch))
    if runs.check.result == "failed":
        return f"canary failed: {runs.check.detail}"
    right = np.array_equal(np.asarray(runs.outputs[0][0]), 2 * x + 1)
    return "" if right else "canary failed: the numbers are wrong"
