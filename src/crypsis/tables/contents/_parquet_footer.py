"""The parts of a Parquet file that its footer lists: columns, indexes, filters, copies of metadata.

No library lists all of them. What is in none of them is in no row, either.

References
----------
.. [1] Apache Parquet. "File Format". https://parquet.apache.org/docs/file-format/
.. [2] Apache Thrift. "Thrift compact protocol encoding".
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MAGIC_BYTES = 4
"""The sign of the format at the beginning and at the end."""
_LENGTH_BYTES = 4
"""The length of the footer is before the sign at the end."""
_MAX_COPY_BYTES = 1 << 20
"""The metadata of a column have its name, two values and a few numbers."""
_MAX_DEPTH = 16
"""Structures of a footer are nested six deep."""
# Fields by their numbers, of a file, of a row group, of a column in it and of its metadata.
_ROW_GROUPS = 4
_COLUMNS = 1
_METADATA = 3
_INDEXES = ((4, 5), (6, 7))
_SIZE = 7
_PAGES = (9, 10, 11)
_FILTER = 14
_FILTER_SIZE = 15
# Types of the protocol.
_BOOLEANS = (1, 2)
_BYTE = 3
_INTEGERS = (4, 5, 6)
_DOUBLE = 7
_BINARY = 8
_LISTS = (9, 10)
_MAP = 11
_STRUCT = 12
_LONG_LIST = 15


def has_other_bytes(path: str) -> bool:
    """Whether a file has bytes that are in no part of it; of a damaged file a ValueError."""
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = len(data) - _MAGIC_BYTES - _LENGTH_BYTES
        start = end - int.from_bytes(data[end : end + _LENGTH_BYTES], "little")
        reader = _Compact(data[max(start, 0) : end])
        try:
            parts = sorted(_parts(data, reader.struct()))
        except (KeyError, TypeError) as error:
            raise ValueError("not a footer") from error
        reached = _MAGIC_BYTES
        for first, length in parts:
            if first != reached:
                return True
            reached += length
        return reached != start or reader.position != end - start


def _parts(data: mmap.mmap, footer: dict[int, Any]) -> Iterator[tuple[int, int]]:
    """The place and the length of each part."""
    for column in (column for group in footer.get(_ROW_GROUPS, ()) for column in group[_COLUMNS]):
        metadata = column[_METADATA]
        first = min(metadata[pages] for pages in _PAGES if metadata.get(pages))
        yield first, metadata[_SIZE]
        yield from _copy(data, first + metadata[_SIZE], column)
        yield from ((column[place], column[length]) for place, length in _INDEXES if place in column)
        if _FILTER in metadata:
            yield metadata[_FILTER], metadata.get(_FILTER_SIZE, 0)


def _copy(data: mmap.mmap, place: int, column: dict[int, Any]) -> Iterator[tuple[int, int]]:
    """The copy of the metadata of a column that some writers put after its pages."""
    reader = _Compact(data[place : place + _MAX_COPY_BYTES])
    try:
        copy = reader.struct()
    except ValueError:
        return
    if column[_METADATA] in (copy, copy.get(_METADATA)):
        yield place, reader.position


class _Compact:
    """A reader of structures in Thrift's compact protocol: fields by their numbers."""

    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > _MAX_DEPTH:
            raise ValueError("nested too deep")
        fields: dict[int, Any] = {}
        number = 0
        while kind := self._bytes(1)[0]:
            number = number + (kind >> 4) if kind >> 4 else self._signed()
            fields[number] = kind & 15 == 1 if kind & 15 in _BOOLEANS else self._value(kind & 15, depth)
        return fields

    def _bytes(self, size: int) -> bytes:
        self.position += size
        if self.position > len(self.data):
            raise ValueError("the footer ends early")
        return self.data[self.position - size : self.position]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._bytes(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def _value(self, kind: int, depth: int) -> Any:
        """A value, of which in a list and a map Booleans have a byte."""
        if kind in _INTEGERS:
            return self._signed()
        if kind in (*_BOOLEANS, _BYTE):
            return self._bytes(1)
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind in _LISTS:
            head = self._bytes(1)[0]
            size = self._unsigned() if head >> 4 == _LONG_LIST else head >> 4
            return [self._value(head & 15, depth) for _ in range(size)]
        if kind == _MAP:
            size = self._unsigned()
            kinds = self._bytes(1)[0] if size else 0
            return [(self._value(kinds >> 4, depth), self._value(kinds & 15, depth)) for _ in range(size)]
        if kind == _STRUCT:
            return self.struct(depth + 1)
        raise ValueError("an unknown type")
