"""Files that come in: streamed to the private folder, counted as they come, never named by them."""

from __future__ import annotations

import gzip
import lzma
import os
import re
import secrets
import struct
import zipfile
import zlib
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import pyarrow as pa

from crypsis.tables.csv.files import CODECS
from crypsis.tables.paths import COMPRESSED, SUFFIXES
from crypsis.web.errors import RequestError
from crypsis.web.settings import Settings, size_text

_NOT_TAKEN = ("duckdb",)
"""A DuckDB file may contain views that read other files of this machine, so it cannot be uploaded."""
_FORMATS = {suffix: form for form, ends in SUFFIXES.items() if form not in _NOT_TAKEN for suffix in ends} | {
    ".toml": "toml"
}
_PACKED = tuple(dict.fromkeys(end for ends in COMPRESSED.values() for end in ends))
ACCEPTED = (*(end for end in _FORMATS if end != ".toml"), *_PACKED)
"""The suffixes of tables that are taken, as the page offers them."""
FORMATS_IN_WORDS = (
    "CSV or JSON (also compressed), Parquet, ORC, Arrow, Stata, SPSS, SAS, a spreadsheet or SQLite"
)
_PIECE_BYTES = 1 << 20
"""Bytes that are unpacked at a time."""
_DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException)
_MAX_LINE_BYTES = 4 << 20
"""The beginning of a file, in whose first line columns are counted."""


def title_of(name_sent: str) -> str:
    """What a file is called on the page: the last part of its name, and not endless."""
    name = PurePosixPath(name_sent.replace("\\", "/")).name
    clean = re.sub(r"[\x00-\x1f\x7f]", "", name).strip()
    if clean in ("", ".", ".."):
        raise RequestError("A file needs a name, such as people.csv.")
    return clean[-200:]


def format_of(title: str) -> str:
    """The format by the end of a name; what is not known is not taken."""
    plain, packed = _ends(title)
    form = _FORMATS.get(plain)
    if form is None or (packed and packed not in COMPRESSED.get(form, ())):
        raise RequestError(
            f"This kind of file is not taken. Give {FORMATS_IN_WORDS}; anything else by "
            "`crypsis serve PATH`.",
            415,
        )
    return form


def _ends(title: str) -> tuple[str, str]:
    """The suffix of a name, and that of its compression."""
    name = PurePosixPath(title.lower())
    packed = name.suffix if name.suffix in _PACKED else ""
    return PurePosixPath(name.name.removesuffix(packed)).suffix, packed


async def stored(body: AsyncIterator[bytes], slot: str, title: str, folder: Path, settings: Settings) -> Path:
    """Write what comes to a file of the folder, no more than is allowed; gives its path.

    Its name there is ours but for its end, which is one that we know: no name leads elsewhere.
    """
    form = format_of(title)
    target = folder / f"{slot}{''.join(_ends(title))}"
    partial = folder / f".{secrets.token_hex(8)}-{target.name}.partial"
    written = 0
    try:
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            async for piece in body:
                written += len(piece)
                if written > settings.upload_bytes:
                    raise RequestError(
                        f"The file is larger than the limit of {size_text(settings.upload_bytes)}.",
                        413,
                        hint="Raise {upload_limit}.",
                    )
                file.write(piece)
        if not written:
            raise RequestError("The file is empty.")
        if form == "csv":
            _check_width(partial, settings)
        for old in folder.glob(f"{slot}.*"):
            old.unlink(missing_ok=True)
        os.replace(partial, target)  # noqa: PTH105
    finally:
        partial.unlink(missing_ok=True)
    return target


def _check_width(path: Path, settings: Settings) -> None:
    """Refuse a line of more fields than columns are allowed, before anything looks at each."""
    try:
        with _unpacked(path, PurePosixPath(path.name.removesuffix(".partial")).suffix) as file:
            line = bytes(file.read(_MAX_LINE_BYTES)).split(b"\n", 1)[0]
    except _DAMAGED:
        return  # it is damaged, which is reported when it is read
    most = max(line.count(mark) for mark in (b",", b";", b"\t", b"|"))
    if most > 2 * settings.columns:
        raise RequestError(f"The first line has {most + 1:,} fields; {settings.columns:,} are allowed.", 413)


def _unpacked(path: Path, suffix: str) -> Any:
    """The bytes of a file, decompressed as its suffix says."""
    if suffix == ".gz":
        return gzip.open(path)
    if suffix == ".xz":
        return lzma.open(path)
    return pa.input_stream(str(path), compression=CODECS.get(suffix))


def check_expanded(path: Path, settings: Settings) -> None:
    """Refuse a compressed file that would become too large, without unpacking it to anywhere."""
    limit = settings.expanded_bytes
    bomb = RequestError(f"Unpacked, this file is larger than the {size_text(limit)} allowed.", 413)
    if path.suffix in _PACKED:
        size = 0
        try:
            with _unpacked(path, path.suffix) as file:
                while piece := file.read(_PIECE_BYTES):
                    size += len(piece)
                    if size > limit:
                        raise bomb
        except _DAMAGED:
            raise RequestError(f"The {path.suffix} file is damaged.") from None
    elif zipfile.is_zipfile(path):
        try:
            size = _unpacked_size(path, min(limit, settings.job_bytes // 8))
        except (zipfile.BadZipFile, zlib.error, OSError, ValueError, NotImplementedError):
            raise RequestError("The spreadsheet is damaged.") from None
        # A workbook is read at once, so it must fit in memory several times.
        if size > min(limit, settings.job_bytes // 8):
            raise bomb


def _unpacked_size(path: Path, limit: int) -> int:
    """The unpacked size of a zip file, counted rather than as it declares; stops at the limit.

    Each member is inflated from its own bytes: a declared size, a hidden or an overlapping member
    does not shorten the count.
    """
    size = 0
    with zipfile.ZipFile(path) as book, path.open("rb") as file:
        for member in book.infolist():
            size += member.file_size if member.compress_type == zipfile.ZIP_STORED else 0
            if member.compress_type == zipfile.ZIP_DEFLATED:
                file.seek(member.header_offset + 26)
                name, extra = struct.unpack("<HH", file.read(4))
                file.seek(member.header_offset + 30 + name + extra)
                size += _inflated_size(file, limit - size)
            elif member.compress_type != zipfile.ZIP_STORED:
                raise ValueError("not a compression of workbooks")
            if size > limit:
                break
    return size


def _inflated_size(file: BinaryIO, limit: int) -> int:
    """The size of one deflated stream; more than the limit is not counted any further."""
    inflate, size = zlib.decompressobj(-15), 0
    while not inflate.eof and size <= limit:
        piece = inflate.unconsumed_tail or file.read(_PIECE_BYTES)
        if not piece:
            break
        size += len(inflate.decompress(piece, _PIECE_BYTES))
    return size
