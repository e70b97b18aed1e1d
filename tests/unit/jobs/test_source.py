"""Archives from strangers."""

import io
import stat
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nkiport.contracts.errors import BadSource, SourceTooLarge
from nkiport.jobs.source import check_source, pack_tree, unpack_source

NAMES = st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8}){0,2}\.py", fullmatch=True)


def zipped(members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return packed.getvalue()


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(NAMES, st.binary(max_size=50), max_size=5))
def test_a_tree_survives_and_packs_to_the_same_bytes(tmp_path_factory, files):
    one, two = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two")
    unpack_source(zipped(files.items()), one)
    packed = pack_tree(one)
    unpack_source(packed, two)

    found = {p.relative_to(two).as_posix(): p.read_bytes() for p in two.rglob("*") if p.is_file()}
    assert found == files
    assert pack_tree(two) == packed


@pytest.mark.parametrize("name", ["../a.py", "a/../../b.py", "/etc/passwd", "a\\b.py", "C:/a.py"])
@pytest.mark.parametrize("refuse", [check_source, lambda data: unpack_source(data, None)])
def test_a_member_outside_of_the_tree_is_named(name, refuse):
    with pytest.raises(BadSource) as refused:
        refuse(zipped([("ok.py", b""), (name, b"x")]))

    assert f"'{name}'" in str(refused.value)


def test_a_link_is_refused():
    link = zipfile.ZipInfo("link.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(BadSource, match=r"'link\.py' is a link"):
        check_source(zipped([(link, b"/etc/passwd")]))


def test_a_bomb_is_refused_by_its_ratio_and_by_its_size(tmp_path):
    bomb = zipped([("bomb.py", b"0" * 10_000_000)])
    with pytest.raises(SourceTooLarge, match="zip bomb's ratio"):
        check_source(bomb)
    with pytest.raises(SourceTooLarge, match="unpacks to 10000000 bytes; at most 1000"):
        unpack_source(zipped([("a.py", b"0" * 10_000_000)]), tmp_path, most_bytes=100_000)
    with pytest.raises(SourceTooLarge, match="the archive has"):
        unpack_source(bomb, tmp_path, most_bytes=10)
    assert list(tmp_path.iterdir()) == []


def test_a_member_that_lies_about_its_size_is_stopped_as_it_comes_out(tmp_path):
    honest = zipped([("a.py", b"x" * 5000)])
    lying = honest.replace((5000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert lying != honest

    with pytest.raises((SourceTooLarge, BadSource)):
        unpack_source(lying, tmp_path, most_bytes=1000)


def test_what_is_no_archive_is_told_so(tmp_path):
    with pytest.raises(BadSource, match="no readable zip archive"):
        unpack_source(b"PK but not really", tmp_path)
