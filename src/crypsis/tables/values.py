"""Values as they count: NaN is missing, and minus zero is zero. No other module has this rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.counting.arrays import missing, scalar
from crypsis.errors import ColumnError


def clean_expression(inner: str, dtype: Any) -> nw.Expr:
    """A column of a frame as it counts."""
    column = nw.col(inner)
    if not dtype.is_float():
        return column
    return nw.when(~not_a_number(column)).then((column + 0.0).cast(dtype)).alias(inner)


def not_a_number(column: nw.Expr) -> nw.Expr:
    """Whether floating-point numbers of a frame are NaN.

    The statistics of Parquet files leave NaN out, and DuckDB then takes it for a number, except
    behind a function whose values it does not predict.
    """
    return column.exp().is_nan()


def any_missing(inner: Sequence[str]) -> nw.Expr:
    """Whether a row has a missing value in at least one of the columns."""
    return nw.any_horizontal(*(nw.col(name).is_null() for name in inner), ignore_nulls=False)


def clean_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in memory as it counts.

    >>> clean_column(pa.chunked_array([[-0.0, float("nan"), 1.5]])).to_pylist()
    [0.0, None, 1.5]
    """
    if not pa.types.is_floating(column.type):
        return column
    plain = pc.add(column, scalar(np.float64(0)).cast(column.type))
    return pc.if_else(pc.is_nan(plain), missing(column.type), plain)


def several_notations(column: pa.ChunkedArray) -> bool:
    """Whether equal values of a column in memory differ in a file: 0.0 and -0.0, NaN and null.

    >>> [several_notations(pa.chunked_array([one])) for one in ([0.0, -0.0], [0.0, 1.0])]
    [True, False]
    """
    if not pa.types.is_floating(column.type):
        return False
    values = column.drop_null().to_numpy()
    zeros = np.signbit(values[values == 0])
    bits = _bits(values[np.isnan(values)])
    return bool(zeros.any() and not zeros.all()) or bool(
        bits.size and (column.null_count or (bits != bits[0]).any())
    )


def notation(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The texts of floating-point numbers; of NaN with the bits, where they differ.

    >>> notation(pa.chunked_array([[-0.0, 0.0, 1.5, None]])).to_pylist()
    ['-0', '0', '1.5', None]
    """
    values = column.drop_null().to_numpy()
    bits = _bits(values[np.isnan(values)])
    texts = column.cast(pa.string())
    if not bits.size or (bits == bits[0]).all():
        return texts
    plain = column.combine_chunks().fill_null(0).to_numpy(zero_copy_only=False)
    named = pa.array([f"nan {number:x}" for number in _bits(plain).tolist()])
    return pc.if_else(pc.is_nan(column.combine_chunks()), named, texts.combine_chunks())


def _bits(values: NDArray[np.floating[Any]]) -> NDArray[np.unsignedinteger[Any]]:
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def clean_counts(values: Iterable[Any], counts: Iterable[int]) -> dict[Any, int]:
    """Counts by value as they count.

    >>> clean_counts([0.0, -0.0, float("nan")], [1, 2, 3])
    {0.0: 3}
    """
    totals: dict[Any, int] = {}
    for value, count in zip(values, counts, strict=True):
        if value == value:  # all but NaN
            plain = value + 0.0 if isinstance(value, float) else value
            totals[plain] = totals.get(plain, 0) + count
    return totals


def places_among(column: pa.ChunkedArray, values: pa.Array) -> NDArray[np.int32]:
    """The place of each value of a column among `values`, which has every one of them.

    >>> values = pa.array([0.0, 1.5, None])
    >>> places_among(pa.chunked_array([[1.5, -0.0, float("nan")]]), values).tolist()
    [1, 0, 2]
    """
    positions = pc.index_in(clean_column(column.cast(values.type)), value_set=values)
    return np.asarray(np.from_dlpack(positions.combine_chunks()), np.int32)


def dictionary_coded(batch: pa.RecordBatch, inner: Iterable[str]) -> pa.RecordBatch:
    """A batch whose columns `inner` are dictionary-coded."""
    for name in inner:
        index = batch.schema.get_field_index(name)
        column = batch.column(index)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        batch = batch.set_column(index, name, column)
    return batch


def check_years(values: pa.Array, name: str) -> None:
    """Refuse dates that calendars of programs do not have: before the year 1, after 9999."""
    if not (pa.types.is_date(values.type) or pa.types.is_timestamp(values.type)):
        return
    ends = pc.min_max(values)
    try:
        ends["min"].as_py(), ends["max"].as_py()
    except (OverflowError, ValueError):
        raise outside_calendar([name]) from None


def outside_calendar(names: Sequence[str]) -> ColumnError:
    """The error of dates outside the years 1 to 9999 in one of the columns."""
    subject = f"Column {names[0]!r}" if len(names) == 1 else f"One of {', '.join(map(repr, names))}"
    return ColumnError(
        f"{subject} has dates outside the years 1 to 9999.",
        columns=tuple(names),
        hint="Fix them, or exclude the column.",
    )
