"""The bytes of a Parquet file: those that belong to no page, no index and no footer.

References
----------
.. [1] Apache Parquet. "File Format". https://parquet.apache.org/docs/file-format/
.. [2] Apache Thrift. "Thrift compact protocol encoding".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

_MAGIC = b"PAR1"
_TAIL = 8
_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = (0, 1, 2, 3, 7, 8, 9, 10, 11, 12)
_DEEPEST = 16
_LONGEST_HEADER = 1 << 20
# Fields of the footer by their numbers: FileMetaData, RowGroup, ColumnChunk, ColumnMetaData.
_ROW_GROUPS, _COLUMNS, _COLUMN = 4, 1, 3
_SIZE, _DATA_PAGE, _INDEX_PAGE, _DICTIONARY, _BLOOM, _BLOOM_SIZE = 7, 9, 10, 11, 14, 15
_INDEXES = ((4, 5), (6, 7))
_COMPRESSED_SIZE = 3
_BLOOM_BYTES = 1


class ParquetLayoutError(Exception):
    """A file that does not follow the format, or is encrypted."""


class _Compact:
    """A reader of structures in Thrift's compact protocol: fields by their numbers."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise ParquetLayoutError
        fields: dict[int, Any] = {}
        number = 0
        while kind := self._byte():
            delta = kind >> 4
            number = number + delta if delta else self._signed()
            fields[number] = self._value(kind & 15, depth)
        return fields

    def _byte(self) -> int:
        if self.at >= len(self.data):
            raise ParquetLayoutError
        self.at += 1
        return self.data[self.at - 1]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind == _BYTE:
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind == _DOUBLE:
            return self._taken(8)
        if kind == _BINARY:
            return self._taken(self._unsigned())
        if kind in (_LIST, _SET):
            head = self._byte()
            size = head >> 4
            size = self._unsigned() if size == 15 else size
            return [self._element(head & 15, depth) for _ in range(size)]
        if kind == _MAP:
            size = self._unsigned()
            kinds = self._byte() if size else 0
            return [(self._element(kinds >> 4, depth), self._element(kinds & 15, depth)) for _ in range(size)]
        if kind == _STRUCT:
            return self.struct(depth + 1)
        raise ParquetLayoutError

    def _element(self, kind: int, depth: int) -> Any:
        return self._byte() == 1 if kind in (_TRUE, _FALSE) else self._value(kind, depth)

    def _taken(self, size: int) -> bytes:
        self.at += size
        if self.at > len(self.data):
            raise ParquetLayoutError
        return self.data[self.at - size : self.at]


def has_other_bytes(path: str) -> bool:
    """Whether a Parquet file has bytes that are in no page, no index and not in its footer."""
    size = Path(path).stat().st_size
    with Path(path).open("rb") as file:
        if size < len(_MAGIC) + _TAIL or file.read(len(_MAGIC)) != _MAGIC:
            raise ParquetLayoutError
        file.seek(size - _TAIL)
        tail = file.read(_TAIL)
        start = size - _TAIL - int.from_bytes(tail[:4], "little")
        if tail[4:] != _MAGIC or start < len(_MAGIC):
            raise ParquetLayoutError
        file.seek(start)
        reader = _Compact(file.read(size - _TAIL - start))
        footer = reader.struct()
        if reader.at != len(reader.data):
            return True
        reached = len(_MAGIC)
        for first, last in sorted(_ranges(file, footer)):
            if first > reached:
                return True
            reached = max(reached, last)
        return reached != start


def _ranges(file: BinaryIO, footer: dict[int, Any]) -> Iterator[tuple[int, int]]:
    """The places of all pages and indexes."""
    try:
        for group in footer.get(_ROW_GROUPS, ()):
            for chunk in group[_COLUMNS]:
                column = chunk[_COLUMN]
                yield from _pages(file, column)
                yield from _copy(file, column)
                for place, length in _INDEXES:
                    if place in chunk:
                        yield chunk[place], chunk[place] + chunk[length]
                if _BLOOM in column:
                    yield column[_BLOOM], column[_BLOOM] + _bloom_size(file, column)
    except (KeyError, TypeError) as error:
        raise ParquetLayoutError from error


def _extent(column: dict[int, Any]) -> tuple[int, int]:
    """Where the pages of one column of a row group begin and end."""
    places = [column[part] for part in (_DATA_PAGE, _INDEX_PAGE, _DICTIONARY) if column.get(part)]
    return min(places), min(places) + column[_SIZE]


def _pages(file: BinaryIO, column: dict[int, Any]) -> Iterator[tuple[int, int]]:
    """The pages of one column of a row group, one after the other."""
    at, end = _extent(column)
    while at < end:
        header, length = _header(file, at)
        following = at + length + header[_COMPRESSED_SIZE]
        if following > end:
            raise ParquetLayoutError
        yield at, following
        at = following


def _copy(file: BinaryIO, column: dict[int, Any]) -> Iterator[tuple[int, int]]:
    """The copy of the metadata of a column that some writers put after its pages."""
    _, at = _extent(column)
    try:
        found, length = _header(file, at)
    except ParquetLayoutError:
        return
    if column in (found, found.get(_COLUMN)):
        yield at, at + length


def _header(file: BinaryIO, at: int) -> tuple[dict[int, Any], int]:
    """The header of a page and its length."""
    for size in (256, _LONGEST_HEADER):  # statistics of a page may be long
        file.seek(at)
        reader = _Compact(file.read(size))
        try:
            return reader.struct(), reader.at
        except ParquetLayoutError:
            if size == _LONGEST_HEADER:
                raise
    raise ParquetLayoutError


def _bloom_size(file: BinaryIO, column: dict[int, Any]) -> int:
    if _BLOOM_SIZE in column:
        return int(column[_BLOOM_SIZE])
    header, length = _header(file, column[_BLOOM])
    return length + int(header[_BLOOM_BYTES])
