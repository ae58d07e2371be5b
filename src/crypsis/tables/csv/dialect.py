"""The dialect of a CSV file: encoding, delimiter and column names, by its first lines."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from crypsis.errors import SourceError
from crypsis.options import ReadOptions
from crypsis.tables.csv.encodings import guess_encoding
from crypsis.tables.csv.files import PACKED, damaged, reason, short, stream, wrong_encoding
from crypsis.tables.csv.types import Notation, date_notation, possible_types
from crypsis.tables.schema import unique_names

_HEAD_BYTES = 262_144
"""The beginning of a file, which shows how it is written."""
_DELIMITERS = ",;\t|"
_MAX_LINE_BYTES = 2_000_000
"""The longest first line, and the longest field in the first lines, that are read."""
_SIGNS = (
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet"),
    (b"\xd0\xcf\x11\xe0", "an Office document"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"$FL2", "an SPSS file"),
    (b"$FL3", "an SPSS file"),
    (b"<stata_dta>", "a Stata file"),
    (b"SQLite format 3", "a SQLite file"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"RDX", "a file of R"),
    (b"X\n\0\0", "a file of R"),
    (b"BZh", "compressed by bzip2"),
    (b"\xfd7zXZ", "compressed by xz"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
    (b"\x1f\x8b", "compressed by gzip"),
)
"""How files of other kinds begin, which were given under another name."""
_EXCEL_LINE = re.compile(r"\s*\"?sep=.\"?\s*[\r\n]", re.IGNORECASE)
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
    types: list[list[Notation]]
    """How the values of each column may be written, by the first lines."""


def detect_dialect(paths: Sequence[str], reading: ReadOptions) -> Dialect:
    """The dialect of files that have the same columns."""
    reading.check_supported(
        "a CSV file", ("names", "header", "delimiter", "encoding", "types", "decimal", "date_format")
    )
    encoding = _codec(reading.encoding or guess_encoding(paths))
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
    decimal = reading.decimal or ("." if delimiter == "," else None)
    dates = date_notation(reading.date_format)
    types = possible_types(first, markers, names, reading.types, decimal=decimal, dates=dates)
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
                start += opened.read(_MAX_LINE_BYTES - _HEAD_BYTES)
    except OSError as error:
        if error.strerror is None and path.lower().endswith(PACKED):
            raise damaged(path) from None
        raise SourceError(f"{short(path)} could not be read ({reason(error)}).") from None
    if len(start) >= _HEAD_BYTES and not encoding.startswith("utf-16"):
        start = start[: start.rfind(b"\n") + 1] or start
    _check_text(path, start, encoding)
    if not start.strip():
        raise SourceError(f"{short(path)} is empty.")
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        head = decoder.decode(start).removeprefix("\ufeff")
    except UnicodeError as error:  # some codecs do not state the place
        line = start[: getattr(error, "start", 0)].count(b"\n") + 1
        raise wrong_encoding(path, line, encoding) from None
    if not head.strip():
        raise SourceError(f"{short(path)} has no text in the encoding {encoding}.")
    return head


def _check_text(path: str, start: bytes, encoding: str) -> None:
    """Refuse a file of another kind, whatever its name."""
    content = next((name for sign, name in _SIGNS if start.startswith(sign)), None)
    if content is None and not encoding.startswith(("utf-16", "utf-32")):
        content = "a binary file" if start.count(b"\0") > max(16, len(start) // 100) else None
    if content is not None:
        hint = "Set {format}, or export the table as CSV."
        if content.startswith("compressed"):
            hint = "Give it the suffix of its compression, such as .csv.bz2."
        raise SourceError(f"{short(path)} is {content}, not a CSV file.", code="not-text", hint=hint)


def _delimiter(head: str) -> str:
    """The delimiter under which the most of the first lines have as many fields as the first.

    In one column of numbers with a decimal comma it is the semicolon, which is in no line.
    """
    if _is_one_column_with_commas(head):
        return ";"

    def agreement(delimiter: str) -> tuple[float, int]:
        rows = [row for row in _split(head, delimiter)[:50] if row]
        width = len(rows[0])
        return (sum(len(row) == width for row in rows) / len(rows) * (width > 1), width)

    return max(_DELIMITERS, key=agreement)


def _is_one_column_with_commas(head: str) -> bool:
    header, *lines = [line.strip() for line in head.splitlines()[:200]] or [""]
    numbers = [line for line in lines if "," in line]
    commas = [Notation("number", form) for form in (",", ".,")]
    return (
        bool(numbers)
        and not any(delimiter in header for delimiter in _DELIMITERS)
        and all(any(form.matches(line) for form in commas) for line in numbers)
    )


def _split(head: str, delimiter: str) -> list[list[str]]:
    lines = head.splitlines(keepends=True)
    csv.field_size_limit(_MAX_LINE_BYTES)
    return list(csv.reader(lines[:200], delimiter=delimiter, skipinitialspace=True))


def _names(head: str, delimiter: str, reading: ReadOptions, path: str) -> list[str]:
    if _EXCEL_LINE.match(head):
        raise SourceError(
            f"{short(path)}: line 1 is a setting of Excel (sep=), not the names of the columns.",
            code="excel-line",
            hint="Delete that line: the delimiter is detected without it.",
        )
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
