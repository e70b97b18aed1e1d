"""Pages made from tables are what the tables say; ``make docs`` writes them."""

from pathlib import Path

from lambdas.api.openapi import document
from nkiport.nki import OPS
from nkiport.nki.docs import page
from tests.conformance import page as conformance

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_operations_is_current_and_names_every_one():
    text = page()

    assert (DOCS / "ops.md").read_text() == text
    assert all(f"| `{key}` |" in text for key in OPS)


def test_the_page_of_conformance_is_current_and_misses_only_what_is_not_there():
    text = conformance.page()

    assert (DOCS / "conformance.md").read_text() == text
    lacking = [line.split("`")[1] for line in text.splitlines() if "**missing**" in line]
    assert sorted(lacking) == sorted(conformance.NOT_THERE)


def test_the_description_of_the_api_is_current_and_names_every_route():
    text = document()

    assert (DOCS / "openapi.json").read_text() == text
    for path in ("/jobs", "/jobs/{job_id}", "/jobs/{job_id}/gates/{gate}", "/uploads"):
        assert f'"{path}"' in text
