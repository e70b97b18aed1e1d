"""The skill database: calibrated look-ups, sources, and kernels that run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nkiport.simulator import simulate
from nkiport.skills import entries, lookup

RNG = np.random.default_rng(11)


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("softmax", "softmax"),
        ("row-wise softmax kernel over the last dimension", "softmax"),
        ("RMSNormKernel", "rmsnorm"),
        ("rms_norm", "rmsnorm"),
        ("FusedLinear", "matmul"),
        ("err_num_partition_exceed_arch_limit", "too-many-partitions"),
        ("candidate.py:12: out of bounds read in the last tile", "ragged-edge"),
    ],
)
def test_a_question_about_an_entry_scores_three_quarters_or_more(query, best):
    first = lookup(query)[0]

    assert first.entry.id == best
    assert first.score >= 0.75


@pytest.mark.parametrize(
    "query", ["", "fast fourier transform", "a banana", "max pooling 2d", "attention", "LSTM"]
)
def test_an_unrelated_question_scores_below_two_fifths(query):
    assert all(hit.score < 0.4 for hit in lookup(query))


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.id)
def test_each_entry_is_found_by_its_own_phrases_and_names_its_source(entry):
    for phrase in entry.asks:
        scores = {hit.entry.id: hit.score for hit in lookup(phrase, top=len(entries()))}
        assert scores[entry.id] == 1.0
    assert len(entry.source) > 10


def test_ids_are_unique():
    ids = [entry.id for entry in entries()]

    assert len(ids) == len(set(ids))


@given(st.text(max_size=80))
def test_scores_lie_between_zero_and_one_in_falling_order(query):
    scores = [hit.score for hit in lookup(query, top=100)]

    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_a_category_can_be_asked_for():
    hits = lookup("matmul bias relu", category="recipe")

    assert {hit.entry.category for hit in hits} == {"recipe"}


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def softmax(x):
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def rmsnorm(x, weight):
    return x / np.sqrt(np.mean(x * x, 1, keepdims=True) + 1e-6) * weight


SHOWN = {
    "softmax": ((draw(131, 65),), softmax),
    "rmsnorm": ((draw(129, 96), draw(96)), rmsnorm),
    "matmul": ((draw(130, 140), draw(140, 515)), np.matmul),
    "elementwise": ((draw(130, 33), draw(130, 33)), np.add),
}


@pytest.mark.parametrize("entry", [e for e in entries() if e.kernel], ids=lambda entry: entry.id)
def test_the_kernel_of_a_pattern_gives_what_numpy_gives(entry):
    inputs, oracle = SHOWN[entry.id]
    code = entry.text[entry.text.index("import math") :]

    result = simulate(code, {f"in{i}": each for i, each in enumerate(inputs)})

    assert [finding.sentence() for finding in result.findings] == []
    np.testing.assert_allclose(result.outputs[0], oracle(*inputs), rtol=2e-5, atol=2e-4)
