"""Source archives: a stranger's zip, unpacked with care, and a tree packed to the same bytes."""

import io
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from nkiport.contracts.errors import BadSource, SourceTooLarge

MIB = 1024 * 1024
MOST_BYTES = 200 * MIB
"""Of an archive, and of what comes out of it."""
MOST_FILES = 20_000
MOST_RATIO = 200
"""Bytes that may come out for each that went in; source code packs to a quarter or so."""
SMALL = MIB
"""Members below this size may have any ratio: a small file of zeros harms nobody."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time a zip can hold: packing the same tree twice gives the same bytes."""


def unpack_source(data: bytes, into: Path, *, most_bytes: int = MOST_BYTES) -> None:
    """Unpack an archive below ``into``, or refuse it before the first file is written.

    Raises ``SourceTooLarge`` for a limit and ``BadSource`` for anything else, each naming the
    member. Sizes in the archive's table are not believed: bytes are counted as they come out.
    """
    if len(data) > most_bytes:
        raise SourceTooLarge(f"the archive has {len(data)} bytes; at most {most_bytes} are taken")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            _check(members, most_bytes)
            left = most_bytes
            for member in members:
                left -= _extract(archive, member, into, left)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise BadSource(f"the source is no readable zip archive: {error}") from error


def check_source(data: bytes, *, most_bytes: int = MOST_BYTES) -> None:
    """Refuse an archive by its table alone, unpacking nothing. Raises as ``unpack_source``."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check([member for member in archive.infolist() if not member.is_dir()], most_bytes)
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise BadSource(f"the source is no readable zip archive: {error}") from error


def pack_tree(root: Path) -> bytes:
    """A tree as a zip: the same files give the same bytes. Links are left out."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _files(root):
            member = zipfile.ZipInfo(path.relative_to(root).as_posix(), EPOCH)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, path.read_bytes())
    return packed.getvalue()


def _files(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root).parts
        if path.is_file() and not path.is_symlink() and ".git" not in inside:
            yield path


def _check(members: list[zipfile.ZipInfo], most_bytes: int) -> None:
    if len(members) > MOST_FILES:
        raise SourceTooLarge(f"the archive has {len(members)} files; at most {MOST_FILES}")
    total = sum(member.file_size for member in members)
    if total > most_bytes:
        raise SourceTooLarge(f"the archive unpacks to {total} bytes; at most {most_bytes}")
    for member in members:
        _check_name(member.filename)
        if stat.S_ISLNK(member.external_attr >> 16):
            raise BadSource(f"'{member.filename}' is a link; send the file itself")
        if member.file_size > SMALL and member.file_size > MOST_RATIO * member.compress_size:
            raise SourceTooLarge(
                f"'{member.filename}' unpacks to {member.file_size} bytes from "
                f"{member.compress_size}; that is a zip bomb's ratio"
            )


def _check_name(name: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or "\\" in name or ":" in name or "\0" in name:
        raise BadSource(f"'{name}' is no relative path with forward slashes")
    if ".." in path.parts:
        raise BadSource(f"'{name}' leaves the source tree; remove '..' from the path")


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, into: Path, left: int) -> int:
    target = into / member.filename
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with archive.open(member) as source, target.open("wb") as out:
        while chunk := source.read(MIB):
            written += len(chunk)
            if written > left:
                raise SourceTooLarge(f"'{member.filename}' unpacks to more than it declares")
            out.write(chunk)
    return written
