"""What goes along with files: neighbors in a folder, attributes, what compressed files have besides."""

from __future__ import annotations

import bz2
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from crypsis.tables.contents._content import Content

_CHUNK_BYTES = 1 << 20
"""Bytes that are read at a time; the header of a gzip file has fewer."""
_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,9}")
_PART = re.compile(r"\d{1,9}|(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
"""The number of a part, or its letter."""
_MAX_NUMBER_GAPS = 200
"""Parts without rows are not written, so that the numbers of the others have gaps."""
_COMPLETE = "_SUCCESS"
_BYTES_PER_CHECKSUM = 512
"""Spark writes a checksum for so many bytes."""
_CHECKSUM_HEAD_BYTES = 8
"""What a file of checksums begins with."""
_CHECKSUM_BYTES = 4
"""A checksum has 32 bits."""
_GZIP_HEAD_BYTES = 10
"""The fixed part of a gzip header, after which the name of the file follows."""
_GZIP_NAME = 0b1000
"""The flag of a file name in a gzip header; the other flags are a comment, more fields, a checksum."""
_GZIP_MARK = 0b1
"""The flag that a file is probably text, which says nothing else."""
_DECOMPRESSORS: dict[str, Callable[[], Any]] = {
    ".gz": lambda: zlib.decompressobj(wbits=31),
    ".bz2": bz2.BZ2Decompressor,
    ".xz": lzma.LZMADecompressor,
}
_UNLISTED = (".zst", ".lz4", ".br")
"""Compressions with frames that readers skip, and no library lists."""


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
    matches = [_NUMBER.search(stem) for stem in stems]
    numbers = {int(match[0]) for match in matches if match}
    if len(below) > 1 and (len(frames) > 1 or max(numbers, default=0) >= _MAX_NUMBER_GAPS + 10 * len(below)):
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
    parts = -(-of.stat().st_size // _BYTES_PER_CHECKSUM)
    return path.stat().st_size == _CHECKSUM_HEAD_BYTES + _CHECKSUM_BYTES * parts


def attributes(path: str) -> Iterator[Content]:
    """Attributes that the file system keeps with a file, such as where it was downloaded from."""
    if not hasattr(os, "listxattr"):
        return
    try:
        names = os.listxattr(path)
    except OSError:
        return
    for name in names:
        if name.startswith("user."):
            yield Content(f"attribute:{name}", f"The file has the attribute {name!r}.")


def compression_contents(path: str) -> Iterator[Content]:
    """What a compressed file has besides one compressed table: names, comments, more of it."""
    suffix = Path(path).suffix.lower()
    if suffix in _UNLISTED:
        text = f"A file with the suffix {suffix} can hold parts that readers skip, and that are not listed."
        yield Content("compressed:more", text)
    if suffix not in _DECOMPRESSORS:
        return
    if suffix == ".gz" and _gzip_says_more(path):
        yield Content("gzip:header", "The gzip header has a comment, more fields, or another file name.")
    try:
        more = _follows(path, _DECOMPRESSORS[suffix]())
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        more = True
    if more:
        yield Content("compressed:more", "The compressed file has more than one compressed table.")


def _gzip_says_more(path: str) -> bool:
    """Whether the header of a gzip file has more than the name of the file."""
    with Path(path).open("rb") as file:
        head = file.read(_CHUNK_BYTES)
    flags, rest = head[3], head[_GZIP_HEAD_BYTES:]
    if flags & ~(_GZIP_NAME | _GZIP_MARK):
        return True
    stem = Path(path).name[: -len(".gz")].encode("utf-8", "surrogateescape")
    return bool(flags & _GZIP_NAME) and rest.partition(b"\0")[0] != stem


def _follows(path: str, stream: Any) -> bool:
    """Whether a file has bytes after the end of its first compressed stream, or no such end."""
    with Path(path).open("rb") as file:
        while not stream.eof and (chunk := file.read(_CHUNK_BYTES)):
            stream.decompress(chunk)
        return not stream.eof or bool(stream.unused_data) or bool(file.read(1))
