"""The dialect of a CSV file: encoding, delimiter and column names, by its first lines."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from crypsis.errors import SourceError
from crypsis.options import ReadOptions
from crypsis.tables.csv.types import possible_types
from crypsis.tables.schema import unique_names

_HEAD_BYTES = 262_144
_DELIMITERS = ",;\t|"
_LONGEST_LINE = 2_000_000
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4", ".br")
_NO_ENCODINGS = ("idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined")


@dataclass(frozen=True)
class Dialect:
    """What has to be known of some files before their lines are split."""

    paths: tuple[str, ...]
    encoding: str
    delimiter: str
    names: list[str]
    skip: int
    """The lines before the first row."""
    markers: tuple[str, ...]
    types: list[list[str]]
    """The types that each column may have by the first lines."""


def detect_dialect(paths: Sequence[str], reading: ReadOptions) -> Dialect:
    """The dialect of files that have the same columns."""
    reading.check_supported("a CSV file", ("names", "header", "delimiter", "encoding", "types"))
    encoding = _codec(reading.encoding or "utf-8")
    heads = [_head(path, encoding) for path in paths]
    delimiter, names = delimiter_and_names(heads[0], reading, paths[0])
    for head, path in zip(heads[1:], paths[1:], strict=True):
        if _names(head, delimiter, reading, path) != names:
            raise SourceError(
                f"{short(path)} has other columns than {short(paths[0])}.", code="other-columns"
            )
    markers = reading.markers
    skip = int(reading.names is None)
    first = [row for row in _split(heads[0], delimiter) if row][skip:-1]
    types = possible_types(first, markers, names, reading.types)
    return Dialect(tuple(paths), encoding, delimiter, names, skip, markers, types)


def delimiter_and_names(head: str, reading: ReadOptions, path: str) -> tuple[str, list[str]]:
    """The delimiter and the names of the columns, by the first lines of a file."""
    delimiter = reading.delimiter or _delimiter(head)
    return delimiter, _names(head, delimiter, reading, path)


def _codec(name: str) -> str:
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):
        codec = None
    # Python has compressions such as base64 and the spelling of host names among its codecs.
    if codec is None or not codec._is_text_encoding or codec.name in _NO_ENCODINGS:
        raise SourceError(
            f"Encoding {name!r} does not exist.",
            code="no-encoding",
            parameter="encoding",
            hint="Set {encoding=utf-8} or {encoding=latin-1}.",
        )
    return codec.name


def _head(path: str, encoding: str) -> str:
    """The first lines, complete ones only."""
    try:
        with stream(path) as opened:
            start: bytes = opened.read(_HEAD_BYTES)
            if len(start) == _HEAD_BYTES and b"\n" not in start:
                start += opened.read(_LONGEST_LINE - _HEAD_BYTES)
    except OSError as error:
        if error.strerror is None and path.lower().endswith(_COMPRESSED):
            raise SourceError(
                f"{short(path)} is damaged, or other bytes follow the compressed table.",
                code="damaged",
                hint="Compress the table anew.",
            ) from None
        raise SourceError(f"{short(path)} could not be read ({reason(error)}).") from None
    if len(start) >= _HEAD_BYTES:
        start = start[: start.rfind(b"\n") + 1] or start
    start = start.removeprefix(codecs.BOM_UTF8)
    if not start.strip():
        raise SourceError(f"{short(path)} is empty.")
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        head = decoder.decode(start)
    except UnicodeError as error:  # some codecs do not state the place
        line = start[: getattr(error, "start", 0)].count(b"\n") + 1
        raise SourceError(
            f"{short(path)}: line {line:,} is not in the encoding {encoding}.",
            code="encoding",
            hint="Set {encoding=latin-1}.",
        ) from None
    if not head.strip():
        raise SourceError(f"{short(path)} has no text in the encoding {encoding}.")
    return head


def stream(path: str) -> Any:
    """The bytes of a local or remote file, decompressed."""
    if "://" in path:
        import fsspec

        return fsspec.open(path, "rb", compression="infer").open()
    return pa.input_stream(path, compression="detect")


def _delimiter(head: str) -> str:
    """The delimiter under which the most of the first lines have as many fields as the first."""

    def agreement(delimiter: str) -> tuple[float, int]:
        rows = [row for row in _split(head, delimiter)[:50] if row]
        width = len(rows[0])
        return (sum(len(row) == width for row in rows) / len(rows) * (width > 1), width)

    return max(_DELIMITERS, key=agreement)


def _split(head: str, delimiter: str) -> list[list[str]]:
    lines = head.splitlines(keepends=True)
    csv.field_size_limit(_LONGEST_LINE)
    return list(csv.reader(lines[:200], delimiter=delimiter, skipinitialspace=True))


def _names(head: str, delimiter: str, reading: ReadOptions, path: str) -> list[str]:
    first = next(row for row in _split(head, delimiter) if row)
    if reading.names is not None:
        names = [str(name) for name in reading.names]
        if len(names) != len(first):
            raise SourceError(
                f"{len(names)} names were given, but {short(path)} has {len(first)} columns.",
                parameter="names",
            )
    else:
        names = [name.strip() or f"unnamed_{i + 1}" for i, name in enumerate(first)]
        if reading.header is None and any(_is_number(name) for name in names):
            raise SourceError(
                f"{short(path)} probably has no header: its first line has numbers.",
                code="no-header",
                hint="Set {names} to the column names, or {header=True}.",
            )
    return unique_names(names)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.lower() not in ("nan", "inf", "infinity")


def size(paths: Sequence[str]) -> float:
    """The bytes of some files; infinite where one is not on this machine."""
    return sum(Path(p).stat().st_size if Path(p).is_file() else float("inf") for p in paths)


def short(path: str) -> str:
    """The name of a file for messages."""
    return repr(path.rsplit("/", 1)[-1])


def reason(error: OSError) -> str:
    """The system's reason for an error."""
    return error.strerror or type(error).__name__
