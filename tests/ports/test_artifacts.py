"""Artifacts, the same in one process and in S3."""

import pytest

from nkiport.contracts.errors import NotFound


def test_what_was_put_is_read_back(artifacts):
    artifacts.put("jobs/a/x.json", b"one")
    artifacts.put("jobs/a/x.json", b"two")

    assert artifacts.get("jobs/a/x.json") == b"two"
    assert artifacts.size("jobs/a/x.json") == 3


def test_only_the_first_of_two_new_ones_is_written(artifacts):
    assert artifacts.put_new("k", b"first")
    assert not artifacts.put_new("k", b"second")
    assert artifacts.get("k") == b"first"


def test_keys_are_listed_by_prefix_in_order(artifacts):
    for key in ("jobs/b", "jobs/a", "uploads/c"):
        artifacts.put(key, b"")

    assert artifacts.keys("jobs/") == ["jobs/a", "jobs/b"]
    assert artifacts.keys("none/") == []


@pytest.mark.parametrize("verb", ["get", "size"])
def test_what_is_not_there_is_named(artifacts, verb):
    with pytest.raises(NotFound, match="no artifact 'nothing'"):
        getattr(artifacts, verb)("nothing")


def test_a_link_leads_to_what_is_there_only(artifacts):
    artifacts.put("jobs/a/x", b"1")

    assert "jobs/a/x" in artifacts.link("jobs/a/x", 60)
    with pytest.raises(NotFound):
        artifacts.link("jobs/a/y", 60)
    assert "uploads/z.zip" in artifacts.upload_link("uploads/z.zip", 10, 60)
