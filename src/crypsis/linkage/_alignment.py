"""Which masked record belongs to which original one: row by row, by record number or by a map."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from crypsis import arrays
from crypsis.errors import ColumnError, ParameterError, unknown_columns

RowMap: TypeAlias = ArrayLike | Literal["unknown"] | None


def missing_values(series: Any) -> int:
    """How many values of a column are missing, NaN included."""
    missing = int(series.is_null().sum())
    if series.dtype.is_float():
        missing = max(missing, int(np.isnan(np.asarray(series.to_numpy(), dtype=np.float64)).sum()))
    return missing


def own_rows(
    first: nw.DataFrame[Any], second: nw.DataFrame[Any], on: str | None, row_map: RowMap
) -> NDArray[np.int64] | None:
    """For each original record the row of its masked version, -1 where it was suppressed."""
    if on is not None and row_map is not None:
        raise ParameterError("Give either a column of record numbers (on=) or a row map, not both.")
    if on is not None:
        return _own_by_number(first, second, on)
    if row_map is None:
        return np.arange(len(first)) if len(first) == len(second) else None
    if isinstance(row_map, str):
        if row_map != "unknown":
            raise ParameterError(f"row_map is an array, 'unknown' or None; {row_map!r} was given.")
        return None
    rows = np.asarray(row_map)
    if rows.shape != (len(second),) or not np.issubdtype(rows.dtype, np.integer):
        raise ParameterError(
            f"A row map gives, for each of the {len(second):,} masked records, the row of its "
            f"original (or -1); an array of shape {rows.shape} and type {rows.dtype} was given."
        )
    known = rows[rows >= 0]
    if rows.min(initial=0) < -1 or known.max(initial=0) >= len(first):
        raise ParameterError(f"A row map names rows from 0 to {len(first) - 1}, or -1 for none.")
    if len(np.unique(known)) != len(known):
        raise ParameterError("The row map names an original record more than once.")
    own = np.full(len(first), -1, dtype=np.int64)
    own[known] = np.flatnonzero(rows >= 0)
    return own


def _own_by_number(
    first: nw.DataFrame[Any], second: nw.DataFrame[Any], on: str
) -> NDArray[np.int64]:
    for frame, side in ((first, "original"), (second, "masked")):
        if on not in frame.columns:
            raise unknown_columns([on], frame.columns)
        column = frame[on]
        if missing_values(column):
            raise ColumnError(f"Record numbers are missing in column {on!r} of the {side} file.")
        if column.n_unique() != len(column):
            raise ColumnError(f"Record numbers occur twice in column {on!r} of the {side} file.")
    asked, there = (column.to_arrow() for column in (first[on], second[on]))
    try:
        found = pc.index_in(asked, value_set=pc.cast(there, asked.type))
    except pa.ArrowInvalid as error:
        raise ColumnError(
            f"The record numbers in column {on!r} are of different kinds in the two files; write "
            "them alike, all as whole numbers or all as text."
        ) from error
    return arrays.numbers(pc.fill_null(found, -1)).astype(np.int64)
