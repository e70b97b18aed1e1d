"""The cost model's constants are those that fourteen published kernels give, and how far off."""

from pathlib import Path
from statistics import median

import pytest

from bench.calibration import (
    Calibration,
    errors_of,
    facts,
    interval_of,
    left_out,
    main,
    share_of,
    table,
)
from nkiport.simulator.estimate import INTERVAL, TYPICAL_SHARE

DOCS = Path(__file__).parents[2] / "docs"
KERNEL = """import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, eps):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range({tiles}):
        rows = nl.ds(i * 128, 128)
        nl.store(out[rows, :], nl.exp(nl.load(x[rows, :]) + eps))
    return out
"""


@pytest.fixture
def kernels():
    return facts().kernels


def test_the_shipped_constants_are_those_of_all_the_kernels(kernels):
    assert len(kernels) == 14
    assert round(share_of(kernels), 3) == TYPICAL_SHARE
    assert tuple(round(each, 2) for each in interval_of(kernels)) == INTERVAL


def test_kernels_estimated_by_the_others_are_near_their_measurements(kernels):
    sizes = [abs(each) for each in errors_of(kernels).values()]

    assert median(sizes) <= 0.25
    assert max(sizes) <= 0.60


def test_a_kernels_own_measurement_has_no_part_in_its_estimate(kernels):
    name, kernel = next(iter(kernels.items()))
    slower = kernel.measured.model_copy(update={"ms": 100 * kernel.measured.ms})
    changed = {**kernels, name: kernel.model_copy(update={"measured": slower})}

    assert left_out(changed)[name] == left_out(kernels)[name]
    assert left_out(changed) != left_out(kernels)


def test_the_page_of_the_cost_model_has_the_table_of_today(kernels):
    assert table(kernels) in (DOCS / "cost-model.md").read_text()


@pytest.fixture
def published(tmp_path, kernels):
    """Two kernels that are as fast as their traffic, one of twice the size."""
    some = next(iter(kernels.values()))
    made = {}
    for name, tiles in (("small", 8), ("large", 16)):
        (tmp_path / f"{name}.py").write_text(KERNEL.format(tiles=tiles))
        made[name] = some.model_copy(
            update={"file": f"{name}.py", "inputs": {"x": (128 * tiles, 512)}, "given": {"eps": 1}}
        )
    path = tmp_path / "facts.json"
    path.write_text(Calibration(source="here", kernels=made).model_dump_json())
    return path


def test_who_has_the_kernels_schedules_them_anew(published, capsys):
    main(published.parent, published)

    small, large = (each.features for each in facts(published).kernels.values())
    assert large.hbm_mb == pytest.approx(2 * 16 * 128 * 512 * 4 / 1e6, abs=0.1)
    assert large.instructions == 2 * small.instructions
    assert 1.5 * small.span_ms < large.span_ms < 2 * small.span_ms
    assert large.busy_ms["dma"] <= large.span_ms
    assert "| large |" in capsys.readouterr().out


def test_a_published_kernel_that_does_not_run_is_named(published):
    (published.parent / "small.py").write_text(KERNEL.format(tiles=9))

    with pytest.raises(ValueError, match=r"small\.py"):
        main(published.parent, published)
