"""A patch in git's own format, so that ``git apply`` creates and changes files alike."""

import difflib
from collections.abc import Iterator, Mapping

from nkiport.delivery.paths import Tree, check_path

NO_NEWLINE = b"\\ No newline at end of file\n"


def patch_of(files: Mapping[str, bytes], tree: Tree) -> bytes:
    """The changes that bring ``files`` into ``tree``; empty if all are there already.

    Raises ``UnsafePath`` for a path that a patch may not write.
    """
    checked = {check_path(path, tree): files[path] for path in sorted(files)}
    return b"".join(_change(path, tree.files.get(path), new) for path, new in checked.items())


def _change(path: str, old: bytes | None, new: bytes) -> bytes:
    if old == new:
        return b""
    name = path.encode()
    created = b"new file mode 100644\n" if old is None else b""
    header = b"diff --git a/%b b/%b\n%b" % (name, name, created)
    before = b"/dev/null" if old is None else b"a/" + name
    body = difflib.diff_bytes(
        difflib.unified_diff, _lines(old or b""), _lines(new), before, b"b/" + name
    )
    return header + b"".join(_ended(body))


def _lines(data: bytes) -> list[bytes]:
    """Lines end at newlines only: other separators are text to git."""
    return [line + b"\n" for line in data.split(b"\n")[:-1]] + [
        last for last in data.split(b"\n")[-1:] if last
    ]


def _ended(lines: Iterator[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield line if line.endswith(b"\n") else line + b"\n" + NO_NEWLINE
