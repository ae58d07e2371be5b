"""How a CSV file is laid out: encoding, delimiter and names, by its first lines."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from crypsis.engine import kinds
from crypsis.engine.reading import MISSING_MARKERS, Reading
from crypsis.errors import ColumnError, SourceError

_HEAD_BYTES = 262_144
_DELIMITERS = ",;\t|"
_LONGEST_LINE = 2_000_000
_NO_ENCODINGS = ("idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined")


@dataclass(frozen=True)
class Layout:
    """What has to be known of some files before their lines are split."""

    paths: tuple[str, ...]
    encoding: str
    delimiter: str
    names: list[str]
    skip: int
    """The lines before the first row."""
    markers: tuple[str, ...]
    likely: list[list[str]]
    """The kinds that each column may be by the first lines."""


def laid_out(paths: Sequence[str], reading: Reading) -> Layout:
    """The layout of files that have the same columns."""
    reading.only("a CSV file", ("names", "header", "delimiter", "encoding", "types"))
    encoding = _codec(reading.encoding or "utf-8")
    heads = [_head(path, encoding) for path in paths]
    delimiter, names = by_head(heads[0], reading, paths[0])
    for head, path in zip(heads[1:], paths[1:], strict=True):
        if _names(head, delimiter, reading, path) != names:
            raise SourceError(f"{short(path)} has other columns than {short(paths[0])}.")
    markers = MISSING_MARKERS if reading.missing_markers is None else tuple(reading.missing_markers)
    skip = int(reading.names is None)
    first = [row for row in _split(heads[0], delimiter) if row][skip:-1]
    likely = kinds.likely(first, markers, names, reading.types)
    return Layout(tuple(paths), encoding, delimiter, names, skip, markers, likely)


def by_head(head: str, reading: Reading, path: str) -> tuple[str, list[str]]:
    """The delimiter and the names of the columns, by the first lines of a file."""
    delimiter = reading.delimiter or _delimiter(head)
    return delimiter, _names(head, delimiter, reading, path)


def _codec(name: str) -> str:
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):
        codec = None
    # Python keeps packers such as base64 and the spelling of host names among its codecs.
    if codec is None or not codec._is_text_encoding or codec.name in _NO_ENCODINGS:
        raise SourceError(f"There is no encoding {name!r}; try 'utf-8' or 'latin-1'.")
    return codec.name


def _head(path: str, encoding: str) -> str:
    """The first lines, whole ones only."""
    try:
        with stream(path) as opened:
            start: bytes = opened.read(_HEAD_BYTES)
            if len(start) == _HEAD_BYTES and b"\n" not in start:
                start += opened.read(_LONGEST_LINE - _HEAD_BYTES)
    except OSError as error:
        raise SourceError(f"{short(path)} cannot be read ({reason(error)}).") from None
    if len(start) >= _HEAD_BYTES:
        start = start[: start.rfind(b"\n") + 1] or start
    start = start.removeprefix(codecs.BOM_UTF8)
    if not start.strip():
        raise SourceError(f"{short(path)} is empty.")
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        head = decoder.decode(start)
    except UnicodeError as error:  # some codecs raise no more than that, without a place
        line = start[: getattr(error, "start", 0)].count(b"\n") + 1
        raise SourceError(
            f"{short(path)}: line {line:,} is not in the encoding {encoding}. Name the right one, "
            "for example encoding='latin-1' (--encoding latin-1)."
        ) from None
    if not head.strip():
        raise SourceError(f"{short(path)} holds no text in the encoding {encoding}.")
    return head


def stream(path: str) -> Any:
    """The bytes of a local or remote file, unpacked."""
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


def _names(head: str, delimiter: str, reading: Reading, path: str) -> list[str]:
    first = next(row for row in _split(head, delimiter) if row)
    if reading.names is not None:
        names = [str(name) for name in reading.names]
        if len(names) != len(first):
            raise SourceError(
                f"{len(names)} names were given, but {short(path)} has {len(first)} columns."
            )
    else:
        names = [name.strip() or f"unnamed_{i + 1}" for i, name in enumerate(first)]
        if reading.header is None and any(_is_number(name) for name in names):
            raise SourceError(
                f"{short(path)} seems to have no header: its first line holds numbers. Name the "
                "columns with names=[...] (--names a,b,c), or say header=True (--header)."
            )
    return unique_names(names)


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, if each is there once; a column without a name gets one."""
    names = [name or f"unnamed_{place}" for place, name in enumerate(names, 1)]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        listed = ", ".join(repr(name) for name in twice[:10])
        raise ColumnError(f"More than one column is called {listed}. Give each its own name.")
    return names


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
    """What the system says of a file that fails."""
    return error.strerror or type(error).__name__
