"""Plain CSV files, read by Arrow in one pass: most of those that are not large.

Used for files that every reader splits alike and whose columns have the types of the first lines.
Any other file (mixed line ends, quotes in odd places, ragged lines, a later line of another type)
is left to `duckdb_reader`, which returns the same for plain files, but takes longer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from crypsis.counting.arrays import missing, scalar, texts
from crypsis.tables.csv.dialect import Dialect
from crypsis.tables.csv.files import PACKED
from crypsis.tables.csv.types import GROUPED, PATTERNS, Notation
from crypsis.tables.parallel import each_column

_MAX_QUOTES = 20_000_000
"""Quotes of a file that are compared in memory; of more another reader takes the file."""
_BLANKS = "".join(map(chr, (0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)))
_MIN_LONG_CHARACTERS = 19
"""An integer of so many characters may not fit into 64 bits."""
_GROUPED = Notation("number", GROUPED).pattern


class _NotPlainError(Exception):
    """The file has to be read by the other reader."""


def read_plain(dialect: Dialect) -> pa.Table | None:
    """The table, its columns called c0, c1, ...; None where a file is not plain."""
    packed = any(path.lower().endswith(PACKED) for path in dialect.paths)
    is_single_column = len(dialect.names) < 2  # an empty line may or may not be a row
    if packed or is_single_column or dialect.encoding != "utf-8" or not dialect.markers:
        return None
    try:
        table = pa.concat_tables([_split(path, dialect) for path in dialect.paths])
        if not table.num_rows:
            return None
        markers = [dialect.markers] * table.num_columns
        typed = each_column(_typed, table.columns, dialect.types, markers)
        return pa.table(typed, names=table.column_names)
    except (OSError, pa.ArrowInvalid, pa.ArrowNotImplementedError, _NotPlainError):
        return None


def _split(path: str, dialect: Dialect) -> pa.Table:
    """The fields as texts, missing-value markers as missing values."""
    data = Path(path).read_bytes()
    if not dialect.delimiter.isascii() or not _lines_are_plain(data):
        raise _NotPlainError
    quoted = b'"' in data
    if quoted and not _quotes_are_plain(data, dialect.delimiter.encode()):
        raise _NotPlainError
    inner = [f"c{i}" for i in range(len(dialect.names))]
    return pyarrow.csv.read_csv(
        pa.BufferReader(data),
        pyarrow.csv.ReadOptions(column_names=inner, skip_rows=dialect.skip),
        pyarrow.csv.ParseOptions(
            delimiter=dialect.delimiter, quote_char='"' if quoted else False, ignore_empty_lines=True
        ),
        pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(inner, pa.string()),
            null_values=list(dialect.markers),
            strings_can_be_null=True,
        ),
    )


def _lines_are_plain(data: bytes) -> bool:
    """Whether all lines end alike, and no byte is NUL."""
    if b"\0" in data:
        return False
    return b"\r" not in data or data.count(b"\r") == data.count(b"\r\n") == data.count(b"\n")


def _quotes_are_plain(data: bytes, delimiter: bytes) -> bool:
    """Whether quotes open after a delimiter or line end, close before one, and span one line."""
    if data.count(b'"') > _MAX_QUOTES:
        return False
    padded = np.frombuffer(b"\n" + data + b"\n", np.uint8)
    quotes = np.flatnonzero(padded == ord('"'))
    edges = np.frombuffer(b'\r\n"' + delimiter, np.uint8)
    opening, closing = quotes[::2], quotes[1::2]
    if not (np.isin(padded[opening - 1], edges).all() and np.isin(padded[closing + 1], edges).all()):
        return False
    ends = np.flatnonzero(padded == ord("\n"))
    return len(quotes) % 2 == 0 and not (np.searchsorted(quotes, ends) % 2).any()


def _typed(column: pa.ChunkedArray, likely: Sequence[Notation], markers: tuple[str, ...]) -> pa.ChunkedArray:
    """The column in the narrowest of the likely types that all its values have."""
    forms = {notation.form for notation in likely if notation.form and notation.kind != "text"}
    if forms - {GROUPED}:  # a comma or an order of dates
        raise _NotPlainError
    for kind in (notation.kind for notation in likely if not notation.form):
        try:
            typed = _READERS[kind](column)
        except (pa.ArrowInvalid, _NotPlainError):  # of another type, or with blanks around values
            bare = _text(column, markers)
            if bare.null_count == len(bare) or not _all_shaped(bare, PATTERNS[kind]):
                continue
            typed = _READERS[kind](bare)
        if kind == "number" and forms and _all_shaped(_text(column, markers), _GROUPED):
            raise _NotPlainError  # of 12.500 there are two readings
        return typed
    if forms and column.null_count < len(column):
        raise _NotPlainError
    return _text(column, markers)


def _text(column: pa.ChunkedArray, markers: tuple[str, ...]) -> pa.ChunkedArray:
    """Texts without blanks around them; markers with blanks around them are missing values."""
    coded = column.combine_chunks().dictionary_encode()
    bare = pc.utf8_trim(coded.dictionary, _BLANKS)
    if bare.equals(coded.dictionary):
        return column
    marked = pc.is_in(bare, texts(markers))
    left = pc.if_else(marked, missing(bare.type), bare)
    return pa.chunked_array([left.take(coded.indices)])


def _integer(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Integers without leading zeros, which codes have, and of at most 18 characters."""
    lengths = pc.binary_length(column)
    padded = pc.or_(
        pc.and_(pc.starts_with(column, "0"), pc.greater(lengths, scalar(np.int32(1)))),
        pc.and_(pc.starts_with(column, "-0"), pc.greater(lengths, scalar(np.int32(2)))),
    )
    if pc.any(padded).as_py() or (pc.max(lengths).as_py() or _MIN_LONG_CHARACTERS) >= _MIN_LONG_CHARACTERS:
        raise _NotPlainError
    return column.cast(pa.int64())


def _number(column: pa.ChunkedArray) -> pa.ChunkedArray:
    numbers = _shaped(column, "number").cast(pa.float64())
    if not pc.all(pc.is_finite(numbers)).as_py():
        raise _NotPlainError
    return numbers


def _date(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return _shaped(column, "date").cast(pa.date32())


def _time(column: pa.ChunkedArray) -> pa.ChunkedArray:
    raise _NotPlainError


def _shaped(column: pa.ChunkedArray, kind: str) -> pa.ChunkedArray:
    """The column, if it has values and all of them have the form of the type."""
    if column.null_count == len(column) or not _all_shaped(column, PATTERNS[kind]):
        raise _NotPlainError
    return column


def _all_shaped(column: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, f"^(?:{pattern})$")).as_py())


_READERS: dict[str, Callable[[pa.ChunkedArray], pa.ChunkedArray]] = {
    "integer": _integer,
    "number": _number,
    "date": _date,
    "time": _time,
}
