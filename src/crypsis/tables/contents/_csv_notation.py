"""CSV files in which equal rows are written in different ways: quotes, blank lines, a last delimiter.

A reader sees every byte. If the quotes depend on the column and the text alone, as every writer sets
them, a recipient learns nothing more from them; otherwise they can distinguish rows of the same values.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

import numpy as np

from crypsis.array_types import Flags, Ints
from crypsis.options import ReadOptions
from crypsis.tables.contents._content import CHUNK_BYTES, Content
from crypsis.tables.csv.dialect import Dialect, detect_dialect
from crypsis.tables.csv.files import stream

_QUOTE = b'"'
_LINE = b"\n"
_RETURN = b"\r"
_BLANK = re.compile(rb"\n\r?\n")
_BLANKS = re.compile(rb"\n(?:\r?\n)+")
_MAX_TEXTS = 1_000_000
"""The most texts of a column that are remembered; of more it is not known that they do not vary."""
_ONE_BYTE = ("utf-8", "utf-8-sig", "ascii")


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
    for position in _varying(
        path, dialect, {column: bool(quoted[column] <= bare[column]) for column in both}
    ):
        name = dialect.names[position]
        text = f"Equal values of column {name!r} are written with and without quotes."
        yield Content(f"spelling:{name}", text)


def _blocks(path: str, dialect: Dialect) -> Iterator[bytes]:
    """The rows in blocks that end between two of them, as UTF-8."""
    decoder = codecs.getincrementaldecoder(dialect.encoding)()
    skip, rest = dialect.skip, b""
    with stream(path) as opened:
        while chunk := bytes(opened.read(CHUNK_BYTES)):
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
    """Whether a field has a delimiter, a line end or a quote in it, and so is written in quotes."""

    @classmethod
    def of(cls, block: bytes, dialect: Dialect) -> _Fields | None:
        """The fields, or None if a row has more or fewer of them than there are columns."""
        block = _BLANKS.sub(_LINE, block).lstrip(b"\r\n")
        data = np.frombuffer(block, np.uint8)
        columns = len(dialect.names)
        is_quote = data == ord(_QUOTE)
        inside = np.logical_xor.accumulate(is_quote)
        separates = (data == ord(dialect.delimiter)) | (data == ord(_LINE))
        end = np.flatnonzero(separates & ~inside)
        ends_record = np.arange(1, len(end) + 1) % columns == 0
        if not len(end) or not ends_record[-1] or ((data[end] == ord(_LINE)) != ends_record).any():
            return None
        start = np.concatenate([[0], end[:-1] + 1])
        special = np.add.reduceat(separates & inside, start, dtype=np.int64) > 0
        needed = special | (np.add.reduceat(is_quote, start, dtype=np.int64) > 2)
        end -= ends_record & (end > start) & (data[end - 1] == ord(_RETURN))
        quoted = (end > start) & is_quote[start]
        shape = (-1, columns)
        return cls(
            block, start.reshape(shape), end.reshape(shape), quoted.reshape(shape), needed.reshape(shape)
        )

    def texts(self, column: int, *, quoted: bool, lengths: Set[int] | None = None) -> Iterator[bytes]:
        """The texts of a column that are, or are not, in quotes; those of some lengths."""
        cut = int(quoted)
        wanted = self.quoted[:, column] == quoted
        if lengths is not None:
            sizes = self.end[:, column] - self.start[:, column] - 2 * cut
            wanted &= np.isin(sizes, list(lengths))
        for row in np.flatnonzero(wanted).tolist():
            yield self.block[int(self.start[row, column]) + cut : int(self.end[row, column]) - cut]


def _varying(path: str, dialect: Dialect, few_quoted: Mapping[int, bool]) -> list[int]:
    """The columns in which one text is written in both ways; of each the rarer way is collected."""
    few: dict[int, set[bytes]] = {column: set() for column in few_quoted}
    many: set[int] = set()
    for fields in _all_fields(path, dialect) if few else ():
        for column in few.keys() - many:
            few[column].update(fields.texts(column, quoted=few_quoted[column]))
            if len(few[column]) > _MAX_TEXTS:
                many.add(column)
    lengths = {column: set(map(len, texts)) for column, texts in few.items()}
    varying = set(many)
    for fields in _all_fields(path, dialect) if few.keys() - varying else ():
        for column in few.keys() - varying:
            others = fields.texts(column, quoted=not few_quoted[column], lengths=lengths[column])
            if not few[column].isdisjoint(others):
                varying.add(column)
    return sorted(varying)


def _all_fields(path: str, dialect: Dialect) -> Iterator[_Fields]:
    blocks = (_Fields.of(block, dialect) for block in _blocks(path, dialect))
    return (fields for fields in blocks if fields is not None)
