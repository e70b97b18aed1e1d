"""Every task of a suite runs, at reduced and at full shapes, and its output says something."""

import runpy

import pytest
import torch

from bench.harness import FULL, REDUCED, at_full_size, tasks_of

TEN, NKIGEN = tasks_of("ten"), tasks_of("nkigen-150")
BOTH = TEN | NKIGEN


def outputs(file):
    task = runpy.run_path(str(file))
    torch.manual_seed(1)
    model = task["Model"](*task["get_init_inputs"]()).eval()
    inputs = task["get_inputs"]()
    with torch.no_grad():
        return model, inputs, model(*inputs)


def test_the_suites_have_their_sizes():
    assert len(TEN) == 10
    assert len(NKIGEN) == 150


@pytest.mark.parametrize("file", BOTH.values(), ids=BOTH.keys())
def test_a_task_gives_finite_values_that_differ_by_more_than_the_tolerance(file):
    _, _, output = outputs(file)

    assert torch.isfinite(output.float()).all()
    assert output.float().std() > 0.002


@pytest.mark.parametrize("file", BOTH.values(), ids=BOTH.keys())
def test_no_affine_parameter_or_statistic_of_a_task_is_the_identity(file):
    model, _, _ = outputs(file)

    tensors = dict(model.named_parameters()) | {
        name: buffer
        for name, buffer in model.named_buffers()
        if not name.endswith("num_batches_tracked")
    }
    assert [name for name, tensor in tensors.items() if tensor.float().std() < 0.01] == []


@pytest.mark.parametrize("file", NKIGEN.values(), ids=NKIGEN.keys())
def test_a_task_has_its_full_shapes_too(file, tmp_path):
    copy = at_full_size({"task": file}, tmp_path)["task"]

    text = copy.read_text()
    assert FULL in text
    assert REDUCED not in text
    with torch.device("meta"):
        _, inputs, output = outputs(copy)
    _, reduced, _ = outputs(file)
    assert output.numel() > 0
    assert sum(t.numel() for t in inputs) > sum(t.numel() for t in reduced)


def test_a_task_without_two_sizes_is_copied_as_it_is(tmp_path):
    copy = at_full_size({"softmax": TEN["softmax"]}, tmp_path)["softmax"]

    assert copy.read_text() == TEN["softmax"].read_text()
