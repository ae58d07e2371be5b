"""Columns of Parquet files as small codes: 0 for a missing value, then one for each value.

Texts have the codes of their dictionary pages, those of all row groups brought together;
integers, dates and truth values their distance from the least value in the statistics of the file.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crypsis.array_types import AnyCodes, Ints
from crypsis.counting import arrays
from crypsis.counting.arrays import numbers, places

_MAX_CHUNK_BYTES = 64_000_000
"""A column of a row group is read at once; larger ones DuckDB reads in a stream."""


class NotSmallCodesError(Exception):
    """Raised where the columns are not small codes after all: an engine has to count them."""


class BatchCodes(NamedTuple):
    """The codes of the rows of a batch."""

    codes: AnyCodes
    low: int
    """The code that stands for the first of `table_codes`."""
    table_codes: Ints
    """What these codes are among those of all batches, one after the other."""


class CodedColumn(Protocol):
    """A column whose values have codes."""

    @property
    def size(self) -> int:
        """How many codes there are, that of a missing value included."""
        ...

    def codes(self, column: pa.Array) -> BatchCodes:
        """The codes of a column of a batch."""
        ...

    def values(self, codes: Ints) -> pa.Array:
        """The values of some codes, of which none is that of a missing value."""
        ...


class IntegerCodes:
    """Integers, dates or truth values from `low` to `high`."""

    def __init__(self, kind: pa.DataType, low: int, high: int) -> None:
        self._kind, self._low = kind, low
        self.size = high - low + 2
        self._every = np.append(np.arange(1, self.size), 0)

    def codes(self, column: pa.Array) -> BatchCodes:
        """The distance from the least value; beyond the statistics, one that no value has."""
        if pa.types.is_date32(self._kind):
            column = column.view(pa.int32())
        beyond = self._low + self.size - 1  # what is missing comes after the largest value
        if column.type not in _KINDS or (column.null_count and not _has(column.type, beyond)):
            column = column.cast(next(kind for kind in _KINDS if _has(kind, self._low, beyond)))
        if not column.null_count:
            return BatchCodes(numbers(column), self._low, self._every[:-1])
        filled = numbers(column.fill_null(arrays.column(np.array([beyond])).cast(column.type)[0]))
        if np.count_nonzero(filled == beyond) != column.null_count:  # not what the file states
            raise NotSmallCodesError
        return BatchCodes(filled, self._low, self._every)

    def values(self, codes: Ints) -> pa.Array:
        """The numbers, in the type of the column."""
        if pa.types.is_boolean(self._kind):
            return places(codes - 1 + self._low).cast(pa.bool_())
        plain = pa.int32() if pa.types.is_date32(self._kind) else self._kind
        return places(codes - 1 + self._low).cast(plain).view(self._kind)


_KINDS = (pa.uint8(), pa.int16(), pa.int32(), pa.int64())
"""The types for which kernels are compiled; others are cast."""


def _has(kind: pa.DataType, *values: int) -> bool:
    ends = np.iinfo(kind.to_pandas_dtype())
    return bool(ends.min <= min(values) and max(values) <= ends.max)


class TextCodes:
    """Texts, with a dictionary that grows with those of the row groups."""

    def __init__(self, most: int) -> None:
        self._most, self._known = most, pa.nulls(0, pa.string())
        self._lock = threading.Lock()
        self._last: tuple[pa.Array, Ints] | None = None

    @property
    def size(self) -> int:
        """The texts so far, and a missing value."""
        return len(self._known) + 1

    def codes(self, column: pa.Array) -> BatchCodes:
        """The codes of the batch's own dictionary."""
        last = self._last
        if last is None or not column.dictionary.equals(last[0]):
            last = column.dictionary, self._own(column.dictionary.cast(pa.string()))
            self._last = last
        return BatchCodes(arrays.codes(column), 0, last[1])

    def _own(self, dictionary: pa.Array) -> Ints:
        """The code of each text of a dictionary, with that of a missing value at the end."""
        if len(dictionary) > self._most or dictionary.null_count:
            raise NotSmallCodesError
        positions = pc.index_in(dictionary, value_set=self._known)
        if positions.null_count:
            with self._lock:
                new = dictionary.filter(pc.index_in(dictionary, value_set=self._known).is_null())
                new.validate(full=True)  # UTF-8, which the engine would check
                self._known = pa.concat_arrays([self._known, new.unique()])
            positions = pc.index_in(dictionary, value_set=self._known)
        return np.append(numbers(positions).astype(np.int64) + 1, 0)

    def values(self, codes: Ints) -> pa.Array:
        """The texts."""
        return self._known.take(places(codes - 1))


def coded_column(name: str, kind: pa.DataType, files: Sequence[pq.FileMetaData], most: int) -> CodedColumn:
    """A column of type `kind` in all of some files as at most `most` codes.

    Raises `NotSmallCodesError` if the files cannot be read so, or state too many values.
    """
    chunks = list(_chunks(name, kind, files))
    if pa.types.is_string(kind):
        if not all(chunk.has_dictionary_page for chunk in chunks):
            raise NotSmallCodesError
        return TextCodes(most)
    if pa.types.is_boolean(kind):
        return IntegerCodes(kind, 0, 1)
    low, high = _ends(chunks)
    wrapped = low < 0 and pa.types.is_unsigned_integer(kind)  # statistics are signed
    if high - low >= most or wrapped or high == 2**63 - 1:
        raise NotSmallCodesError
    return IntegerCodes(kind, low, high)


def _chunks(
    name: str, kind: pa.DataType, files: Sequence[pq.FileMetaData]
) -> Iterable[pq.ColumnChunkMetaData]:
    for file in files:
        schema = file.schema.to_arrow_schema()
        index = schema.get_field_index(name)
        if index < 0 or len(schema) != file.num_columns:  # some are nested, some have one name
            raise NotSmallCodesError
        field_type, described = schema.field(index).type, file.schema.column(index)
        if described.path != name or not _is_a(kind, field_type, described):
            raise NotSmallCodesError
        for group in range(file.num_row_groups):
            chunk = file.row_group(group).column(index)
            if chunk.total_compressed_size > _MAX_CHUNK_BYTES:
                raise NotSmallCodesError
            yield chunk


def _is_a(kind: pa.DataType, field_type: pa.DataType, described: pq.ColumnSchema) -> bool:
    """Whether a column of the file has exactly the values that the engine reads from it."""
    if pa.types.is_string(kind):
        text = described.physical_type == "BYTE_ARRAY"
        return bool(text and described.logical_type.type == "STRING")
    plain = pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date32(kind)
    return bool(plain and field_type == kind)


def _ends(chunks: Sequence[pq.ColumnChunkMetaData]) -> tuple[int, int]:
    """The least and the largest number by the statistics of all row groups."""
    low = high = None
    for chunk in chunks:
        stated = chunk.statistics
        if stated is None or not stated.has_min_max:
            if stated is None or not stated.has_null_count or stated.null_count < chunk.num_values:
                raise NotSmallCodesError
            continue  # all are missing
        least, largest = stated.min_raw, stated.max_raw
        low = least if low is None else min(low, least)
        high = largest if high is None else max(high, largest)
    if low is None or high is None or low > high:
        raise NotSmallCodesError
    return low, high
