"""What goes along with files: neighbors in a folder, attributes, the header of a gzip file."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from crypsis.tables.contents._content import Content

_CHUNK = 1 << 20
_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,9}")
_PART = re.compile(r"\d{1,9}|(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
"""The number of a part, or its letter."""
_MORE_NUMBERS = 200
"""Parts without rows are not written, so that the numbers of the others have gaps."""
_COMPLETE = "_SUCCESS"
_CHECKED_BYTES, _CHECKSUM_HEAD, _CHECKSUM = 512, 8, 4
_MORE, _EXTRA, _NAME, _COMMENT = 0b10, 0b100, 0b1000, 0b10000
"""Flags of a gzip header (RFC 1952)."""


def folder_contents(folder: Path, read: Sequence[str]) -> Iterator[Content]:
    """The files of a folder that are not read, except empty marks and checksums of Spark."""
    own = {Path(path).resolve() for path in read}
    for path in sorted(folder.rglob("*")):
        if path.is_dir() or path.resolve() in own or _is_mark(path) or _is_checksum(path):
            continue
        name = str(path.relative_to(folder))
        yield Content(f"file:{name}", f"File {name!r} is in the folder.")


def folder_names(folder: Path, read: Sequence[str]) -> Iterator[Content]:
    """Names of files and folders that contain more than a number of the part.

    Folders called key=value are columns of the table. Files are numbered by their writers; any other
    name is a value of all rows of the file.
    """
    places, top = [Path(path).absolute() for path in read], folder.absolute()
    below = [path.relative_to(top) for path in places if path.is_relative_to(top)]
    for name in sorted({part for path in below for part in path.parts[:-1] if "=" not in part}):
        yield Content(f"folder:{name}", f"Folder {name!r} has files of the table.")
    stems = [_UUID.sub("", path.name) for path in below]
    frames = {_PART.sub("#", stem, count=1) for stem in stems}
    found = [_NUMBER.search(stem) for stem in stems]
    numbers = {int(one[0]) for one in found if one}
    if len(below) > 1 and (len(frames) > 1 or max(numbers, default=0) >= _MORE_NUMBERS + 10 * len(below)):
        text = "The names of the files differ in more than the number of the part."
        yield Content("file-names", text)


def _is_mark(path: Path) -> bool:
    return path.name == _COMPLETE and path.stat().st_size == 0


def _is_checksum(path: Path) -> bool:
    """Whether it has the size of the checksums of the file it is named after."""
    name = path.name
    of = path.with_name(name[1:-4])
    if not (name.startswith(".") and name.endswith(".crc") and of.is_file()):
        return False
    parts = -(-of.stat().st_size // _CHECKED_BYTES)
    return path.stat().st_size == _CHECKSUM_HEAD + _CHECKSUM * parts


def attributes(path: str) -> Iterator[Content]:
    """Attributes that the file system keeps with a file, such as where it was downloaded from."""
    if not hasattr(os, "listxattr"):
        return
    try:
        found = os.listxattr(path)
    except OSError:
        return
    for name in found:
        if name.startswith("user."):
            yield Content(f"attribute:{name}", f"The file has the attribute {name!r}.")


def gzip_contents(path: str) -> Iterator[Content]:
    """Names and comments in the header of a gzip file, and what follows after its data."""
    if not path.lower().endswith(".gz"):
        return
    try:
        with Path(path).open("rb") as file:
            head = file.read(_CHUNK)
    except OSError:
        return
    if len(head) < 10 or head[:2] != b"\x1f\x8b":
        return
    flags, at = head[3], 10
    if flags & _EXTRA:
        yield Content("gzip:extra", "The gzip header has an extra field.")
        at += 2 + int.from_bytes(head[at : at + 2], "little")
    if flags & _NAME:
        end = head.index(b"\0", at)
        stem = Path(path).name[: -len(".gz")].encode("utf-8", "surrogateescape")
        if head[at:end] != stem:
            yield Content("gzip:name", "The gzip header has another file name.")
    if flags & _COMMENT:
        yield Content("gzip:comment", "The gzip header has a comment.")
    if _follows(path):
        yield Content("gzip:more", "Something follows after the compressed table.")


def _follows(path: str) -> bool:
    """Whether bytes follow the first compressed stream."""
    stream = zlib.decompressobj(wbits=31)
    with Path(path).open("rb") as file:
        while chunk := file.read(_CHUNK):
            while chunk and not stream.eof:
                try:
                    stream.decompress(chunk, _CHUNK)
                except zlib.error:
                    return False  # the reader reports it
                chunk = stream.unconsumed_tail
            if stream.eof:
                return bool(stream.unused_data) or bool(file.read(1))
    return False
