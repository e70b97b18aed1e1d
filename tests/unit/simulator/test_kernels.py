"""Hand-written kernels in the style of tutorials, against NumPy."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from nkiport.simulator import simulate

KERNELS = Path(__file__).parent / "kernels"
RNG = np.random.default_rng(7)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def softmax(x):
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def rmsnorm(x, weight):
    return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + 1e-6) * weight


def layernorm(x, gamma, beta):
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt(x.var(1, keepdims=True) + 1e-5) * gamma + beta


def causal(x):
    kept = np.where(np.tri(*x.shape, dtype=bool), x, -9984.0)
    return kept, kept[:, :3].sum(1, keepdims=True)


def swap(x, rows):
    return x.reshape(len(x), -1, 2)[..., ::-1].reshape(x.shape), x[rows]


CASES = {
    "softmax": ((draw(300, 97),), softmax),
    "softmax_isa": ((draw(256, 200),), softmax),
    "rmsnorm": ((draw(3, 70, 96), draw(96)), rmsnorm),
    "layernorm": ((draw(200, 1536), draw(1536), draw(1536)), layernorm),
    "matmul": (
        (draw(384, 256), draw(384, 1024), draw(1024)),
        lambda a, b, bias: np.maximum(a.T @ b + bias, 0),
    ),
    "linear": ((draw(130, 257), draw(131, 257)), lambda x, w: x @ w.T),
    "spmd_add": ((draw(256, 512), draw(256, 512)), np.add),
    "causal": ((draw(64, 96),), causal),
    "running_max": ((draw(100, 256),), lambda x: x.max(1, keepdims=True)),
    "transpose_heads": ((draw(96, 64), RNG.integers(0, 96, 40).astype(np.int32)), swap),
}


def run(name, *inputs):
    return simulate((KERNELS / f"{name}.py").read_text(), dict(enumerate_names(inputs)))


def enumerate_names(inputs):
    return ((f"in{i}", each) for i, each in enumerate(inputs))


def test_every_kernel_has_a_case():
    assert {path.stem for path in KERNELS.glob("*.py")} == set(CASES)


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_kernel_gives_what_numpy_gives(name):
    inputs, oracle = CASES[name]
    expected = oracle(*inputs)

    result = run(name, *inputs)

    assert [f.sentence() for f in result.findings] == []
    assert result.inputs_read == tuple(f"in{i}" for i in range(len(inputs)))
    for got, want in zip(
        result.outputs, expected if isinstance(expected, tuple) else (expected,), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-4)


def test_a_bfloat16_kernel_computes_in_float32_and_rounds_once():
    x = draw(128, 256).astype(ml_dtypes.bfloat16)
    y = draw(128, 256).astype(ml_dtypes.bfloat16)

    result = run("spmd_add", x, y)

    want = (x.astype(np.float32) + y.astype(np.float32)).astype(ml_dtypes.bfloat16)
    assert result.outputs[0].dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(result.outputs[0], want)


def test_two_simulations_do_not_share_anything():
    x = draw(128, 32)

    first, second = run("softmax", x), run("softmax", x)

    np.testing.assert_array_equal(first.outputs[0], second.outputs[0])
    assert len(first.trace.instructions) == len(second.trace.instructions)
