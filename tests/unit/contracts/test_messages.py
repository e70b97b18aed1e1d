import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nkiport.contracts import base, keys
from nkiport.contracts.graph import DTypeArg, Node, Ref
from nkiport.contracts.judgement import Check, Finding, StageReport
from nkiport.contracts.tensors import Draw, InputSpec

leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.builds(Ref, ref=st.text(min_size=1, max_size=5))
    | st.just(DTypeArg(dtype="bfloat16"))
)
arguments = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3).map(tuple))


@given(st.lists(arguments, max_size=4).map(tuple))
def test_a_node_survives_json(args):
    node = Node(name="a", op="aten.add.Tensor", args=args)

    assert Node.model_validate_json(node.model_dump_json()) == node


def test_an_infinite_argument_survives_json():
    node = Node(name="a", op="aten.full.default", args=(-math.inf,))

    assert Node.model_validate_json(node.model_dump_json()).args == (-math.inf,)


@given(st.text(max_size=80))
def test_a_slug_is_always_part_of_a_valid_id(text):
    made = base.slug(text)

    assert made
    assert made == base.slug(made)
    assert all(c.isdigit() or c == "-" or "a" <= c <= "z" for c in made)


def test_a_wrong_dtype_is_refused_with_the_ones_there_are():
    with pytest.raises(ValidationError, match="bfloat16"):
        InputSpec(name="x", shape=(2,), dtype="float31")


def test_a_draw_with_its_bounds_the_wrong_way_round_is_refused():
    with pytest.raises(ValidationError, match="above high"):
        Draw(kind="uniform", low=2, high=1)


def test_integers_need_bounds():
    with pytest.raises(ValidationError, match="needs 'low' and 'high'"):
        Draw(kind="integers")


def test_a_finding_reads_as_one_line_with_its_four_parts():
    finding = Finding(code="err_x", line=3, asked="256 partitions", allowed="128", fix="tile it")

    assert finding.sentence("k.py") == "k.py:3: err_x: 256 partitions; 128; tile it"


@pytest.mark.parametrize(
    ("results", "passed"), [(["passed", "not_measured"], True), (["passed", "failed"], False)]
)
def test_a_report_passes_when_no_check_failed(results, passed):
    checks = tuple(Check(name="c", stage="numbers", result=r, detail="d") for r in results)
    report = StageReport(
        job_id="job-00000001", kernel_id="k", attempt=1, step="verify", level="functional",
        engine="e", checks=checks,
    )  # fmt: skip

    assert report.passed is passed


def test_secrets_lie_apart_from_what_surfaces_may_read():
    assert not keys.seed("job-00000001", "k").startswith("jobs/")
