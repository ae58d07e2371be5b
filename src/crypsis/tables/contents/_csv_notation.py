"""CSV files in which equal rows are written in different ways: quotes, blank lines, a last delimiter.

If the quotes depend on the column and the text alone, a recipient learns nothing more from them. Otherwise
they can distinguish rows that have the same values.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.options import ReadOptions
from crypsis.tables.contents._content import Content
from crypsis.tables.csv.dialect import Dialect, detect_dialect
from crypsis.tables.csv.files import stream

_CHUNK = 1 << 24
_QUOTE, _LINE = b'"', b"\n"
_BLANK = re.compile(rb"\n\r?\n")
_BLANKS = re.compile(rb"\n(?:\r?\n)+")
_MOST_TEXTS = 1_000_000
_ONE_BYTE = ("utf-8", "utf-8-sig", "ascii")
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def csv_contents(path: str, reading: ReadOptions) -> Iterator[Content]:
    """Blank lines inside the table, and quotes and last delimiters that vary between equal rows."""
    dialect = detect_dialect([path], reading)
    columns = len(dialect.names)
    quoted, bare = np.zeros(columns, np.int64), np.zeros(columns, np.int64)
    blank, rows, last = False, 0, 0
    for block in _blocks(path, dialect):
        blank = blank or _BLANK.search(block.rstrip()) is not None
        if _QUOTE not in block:
            records = _BLANKS.sub(_LINE, block).lstrip(b"\r\n").count(_LINE)
            rows += records
            last += block.count(dialect.delimiter.encode()) - (columns - 1) * records
            bare += block.count(_LINE)
            continue
        fields = _Fields.of(block, dialect)
        if fields is None:
            yield Content("spelling", "The quotes of the file could not be inspected.")
            return
        rows += len(fields.end)
        quoted += (fields.quoted & ~fields.needed).sum(axis=0)
        bare += (~fields.quoted).sum(axis=0)
    if blank:
        yield Content("blank-lines", "Lines between the rows of the table are blank.")
    if last not in (0, rows):
        text = "Some rows of the table end with a delimiter, and others do not."
        yield Content("last-delimiter", text)
    both = np.flatnonzero((quoted > 0) & (bare > 0)).tolist()
    for place in _varying(path, dialect, {one: bool(quoted[one] <= bare[one]) for one in both}):
        name = dialect.names[place]
        text = f"Equal values of column {name!r} are written with and without quotes."
        yield Content(f"spelling:{name}", text)


def _blocks(path: str, dialect: Dialect) -> Iterator[bytes]:
    """The rows in blocks that end between two of them, as UTF-8."""
    decoder = codecs.getincrementaldecoder(dialect.encoding)()
    skip, rest = dialect.skip, b""
    with stream(path) as opened:
        while chunk := bytes(opened.read(_CHUNK)):
            block = rest + (chunk if dialect.encoding in _ONE_BYTE else decoder.decode(chunk).encode())
            end = _end(block)
            block, rest = block[:end], block[end:]
            if skip and block:
                block, skip = _without_first(block.lstrip(b"\r\n")), 0
            if block:
                yield block
    rest = _without_first(rest) if skip else rest
    if rest.strip(b"\r\n"):
        yield rest + _LINE


def _end(block: bytes) -> int:
    """After the last line end that is not inside of quotes."""
    end = block.rfind(_LINE) + 1
    while end and block.count(_QUOTE, 0, end) % 2:
        end = block.rfind(_LINE, 0, end - 1) + 1
    return end


def _without_first(block: bytes) -> bytes:
    """Without the names of the columns."""
    end = block.find(_LINE) + 1
    while end and block.count(_QUOTE, 0, end) % 2:
        end = block.find(_LINE, end) + 1
    return block[end:] if end else b""


@dataclass(frozen=True)
class _Fields:
    """Where the fields of a block are, one row for each record."""

    block: bytes
    start: Ints
    end: Ints
    quoted: Flags
    needed: Flags
    """Whether a text in quotes could not be written without them."""

    @classmethod
    def of(cls, block: bytes, dialect: Dialect) -> _Fields | None:
        from crypsis.tables.contents.kernels.csv_fields import find_fields

        block = _BLANKS.sub(_LINE, block).lstrip(b"\r\n")
        delimiter, columns = dialect.delimiter.encode(), len(dialect.names)
        most = block.count(delimiter) + block.count(_LINE)
        start, end = np.zeros(most, np.int64), np.zeros(most, np.int64)
        quoted, needed = np.zeros(most, bool), np.zeros(most, bool)
        data = np.frombuffer(block, np.uint8)
        count = find_fields(data, ord(delimiter), columns, start, end, quoted, needed)
        if count < 0:
            return None
        shape = (-1, columns)
        return cls(
            block,
            start[:count].reshape(shape),
            end[:count].reshape(shape),
            quoted[:count].reshape(shape),
            needed[:count].reshape(shape),
        )

    def texts(self, place: int, *, quoted: bool, lengths: Set[int] | None = None) -> Iterator[bytes]:
        """The texts of a column that are, or are not, in quotes; those of some lengths."""
        cut = int(quoted)
        wanted = self.quoted[:, place] == quoted
        if lengths is not None:
            sizes = self.end[:, place] - self.start[:, place] - 2 * cut
            wanted &= np.isin(sizes, list(lengths))
        rows = np.flatnonzero(wanted)
        for row in rows.tolist():
            yield self.block[int(self.start[row, place]) + cut : int(self.end[row, place]) - cut]


def _varying(path: str, dialect: Dialect, few_quoted: Mapping[int, bool]) -> list[int]:
    """The columns in which one text is written in both ways; of each the rarer way is collected."""
    few: dict[int, set[bytes]] = {place: set() for place in few_quoted}
    many: set[int] = set()
    for fields in _all_fields(path, dialect) if few else ():
        for key in few.keys() - many:
            few[key].update(fields.texts(key, quoted=few_quoted[key]))
            if len(few[key]) > _MOST_TEXTS:
                many.add(key)
    lengths = {place: set(map(len, texts)) for place, texts in few.items()}
    varying = set(many)
    for fields in _all_fields(path, dialect) if few.keys() - varying else ():
        for key in few.keys() - varying:
            others = fields.texts(key, quoted=not few_quoted[key], lengths=lengths[key])
            if not few[key].isdisjoint(others):
                varying.add(key)
    return sorted(varying)


def _all_fields(path: str, dialect: Dialect) -> Iterator[_Fields]:
    blocks = (_Fields.of(block, dialect) for block in _blocks(path, dialect))
    return (fields for fields in blocks if fields is not None)
