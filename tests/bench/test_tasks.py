"""Every task of a suite runs, at all its shapes, and its output says something."""

import runpy

import pytest
import torch

from bench.harness import tasks_of
from bench.shapes import AT_FULL, FULL, REDUCED, drawn, rewritten

TEN, NKIGEN = tasks_of("ten"), tasks_of("nkigen-250")
BOTH = TEN | NKIGEN


def outputs(file, seed=1):
    task = runpy.run_path(str(file))
    torch.manual_seed(seed)
    model = task["Model"](*task["get_init_inputs"]()).eval()
    inputs = task["get_inputs"]()
    with torch.no_grad():
        return model, inputs, model(*inputs)


def test_the_suites_have_their_sizes():
    assert len(TEN) == 10
    assert len(NKIGEN) == 250
    assert len(tasks_of("nkigen-150")) == 150
    assert tasks_of("nkigen-150").items() <= NKIGEN.items()


@pytest.mark.parametrize("file", BOTH.values(), ids=BOTH.keys())
def test_a_task_gives_finite_values_that_differ_by_more_than_the_tolerance(file):
    # Of two draws, so that one number that never changes says nothing either.
    output = torch.stack([outputs(file, seed)[2].float() for seed in (1, 2)])

    assert torch.isfinite(output).all()
    assert output.std() > 0.002


@pytest.mark.parametrize("file", BOTH.values(), ids=BOTH.keys())
def test_no_affine_parameter_or_statistic_of_a_task_is_the_identity(file):
    models = [outputs(file, seed)[0] for seed in (1, 2)]

    drawn = zip(*(model.state_dict().items() for model in models), strict=True)
    spread = {
        name: torch.stack([one, other]).float().std()
        for (name, one), (_, other) in drawn
        if not name.endswith("num_batches_tracked")
    }
    assert [name for name, std in spread.items() if std < 0.01] == []


@pytest.mark.parametrize("file", NKIGEN.values(), ids=NKIGEN.keys())
def test_a_task_has_its_full_shapes_too(file, tmp_path):
    copy = rewritten({"task": file}, AT_FULL, tmp_path)["task"]

    text = copy.read_text()
    assert FULL in text
    assert REDUCED not in text
    with torch.device("meta"):
        _, inputs, output = outputs(copy)
    _, reduced, _ = outputs(file)
    assert output.numel() > 0
    assert sum(t.numel() for t in inputs) > sum(t.numel() for t in reduced)


@pytest.mark.parametrize("file", NKIGEN.values(), ids=NKIGEN.keys())
def test_a_task_runs_at_shapes_that_are_drawn(file, tmp_path):
    own = [t.shape for t in outputs(file)[1]]
    seen = set()
    for seed in range(4):
        copy = rewritten({file.stem: file}, drawn(seed), tmp_path)[file.stem]
        with torch.device("meta"):
            _, inputs, output = outputs(copy)
        assert output.numel() > 0
        assert [len(t.shape) for t in inputs] == [len(shape) for shape in own]
        seen.add(tuple(t.shape for t in inputs))

    assert len(seen) > 1


@pytest.mark.parametrize("shapes", [AT_FULL, drawn(1)], ids=lambda shapes: shapes.name)
def test_a_task_without_two_sizes_is_copied_as_it_is(shapes, tmp_path):
    copy = rewritten({"softmax": TEN["softmax"]}, shapes, tmp_path)["softmax"]

    assert copy.read_text() == TEN["softmax"].read_text()
