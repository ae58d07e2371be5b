"""The columns of a synthetic file, its training data and a holdout, as arrays that can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.array_types import Floats, Ints
from crypsis.counting.arrays import codes, numbers
from crypsis.dataset import Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.hierarchies.labels import as_text
from crypsis.options import Role
from crypsis.tables import Kind

_MAX_ROWS = 2_000_000
"""Records of a file; more are refused."""
_MIN_NUMBERS = 10
"""A number with fewer values is compared as a category."""


@dataclass(frozen=True, eq=False)
class FileColumn:
    """A column in all files: numbers divided by their spread, or the codes of categories.

    Missing values are not a number, or a category of their own.
    """

    name: str
    numeric: bool
    parts: tuple[Floats, ...]
    """The values in each file."""

    def contributions(self, rows: Floats, other_rows: Floats) -> NDArray[np.float32]:
        """The distance of each of some values to each of others, from 0 to 1."""
        if not self.numeric:
            return np.asarray(rows[:, None] != other_rows[None], np.float32)
        distances = np.abs(rows[:, None].astype(np.float32) - other_rows[None].astype(np.float32))
        np.minimum(distances, 1, out=distances)
        here, other_missing = np.isnan(rows)[:, None], np.isnan(other_rows)[None]
        if here.any() or other_missing.any():
            distances = np.where(here | other_missing, (here != other_missing).astype(np.float32), distances)
        return np.asarray(distances, np.float32)


def compared_columns(files: Sequence[Dataset]) -> list[FileColumn]:
    """The released columns of the first file that all files have."""
    first = files[0]
    for file in files:
        if not file.rows.local or file.count > _MAX_ROWS:
            raise TooLargeError(
                f"Synthetic files are compared on one machine, and up to {_MAX_ROWS:,} records."
            )
        if not file.count:
            raise InputError("A file without records cannot be compared.")
    names = [
        column.name
        for column in first.rows.columns
        if column.kind is not Kind.NESTED
        and first.roles.get(column.name) is not Role.EXCLUDED
        and all(column.name in file.names for file in files)
        and all(file.rows.column(column.name).kind is not Kind.NESTED for file in files)
    ]
    if not names:
        raise InputError("The files have no column in common.", code="no-comparable-columns")
    tables = [file.to_arrow(names) for file in files]
    return [_compared(name, [table[name].combine_chunks() for table in tables]) for name in names]


def _compared(name: str, arrays: Sequence[pa.Array]) -> FileColumn:
    if all(_ordered(array.type) for array in arrays):
        values = [_numbers(array) for array in arrays]
        numbers = np.concatenate(values)
        finite = numbers[np.isfinite(numbers)]
        if np.unique(finite).size >= _MIN_NUMBERS:
            low, high = np.quantile(finite, [0.05, 0.95])
            spread = float(high - low) or float(np.ptp(finite)) or 1.0
            return FileColumn(name, True, tuple(value / spread for value in values))
    texts = [_texts(array) for array in arrays]
    coded = codes(pa.concat_arrays(texts).dictionary_encode()).astype(np.float64)
    ends = np.cumsum([len(text) for text in texts])[:-1]
    return FileColumn(name, False, tuple(np.split(coded, ends)))


def _ordered(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
    )


def _numbers(array: pa.Array) -> Floats:
    if pa.types.is_date(array.type) or pa.types.is_timestamp(array.type):
        array = array.cast(pa.timestamp("us")).cast(pa.int64())
    plain = pc.fill_null(pc.cast(array, pa.float64(), safe=False), float("nan"))
    return numbers(plain).astype(np.float64)


def _texts(array: pa.Array) -> pa.Array:
    coded = array.dictionary_encode()
    values = [None if value is None else as_text(value) for value in coded.dictionary.to_pylist()]
    return pc.fill_null(pa.array(values, pa.string()).take(coded.indices), "\x00")


def records(columns: Sequence[FileColumn]) -> list[Ints]:
    """Each record of each file as a number that is equal for equal records."""
    sizes = [part.size for part in columns[0].parts]
    groups = np.zeros(sum(sizes), np.int64)
    for column in columns:
        values = np.nan_to_num(np.concatenate(column.parts), nan=-1e300)
        codes = np.unique(values, return_inverse=True)[1]
        groups = np.unique(groups * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return list(np.split(groups, np.cumsum(sizes)[:-1]))
