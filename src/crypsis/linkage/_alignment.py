"""Which masked record belongs to which original: row by row, by record number or by a row map."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike

from crypsis.counting import arrays
from crypsis.errors import ColumnError, ParameterError, unknown_columns
from crypsis.linkage._ranks import Ints

ALIGNED_Z = 4.0
"""Standard errors by which rows must agree to correspond: chance exceeds it once in 30,000 columns."""
RowMap: TypeAlias = ArrayLike | Literal["unknown"] | None


def missing_values(series: Any) -> int:
    """The number of missing values of a column, NaN included."""
    missing = int(series.is_null().sum())
    if series.dtype.is_float():
        missing = max(missing, int(np.isnan(np.asarray(series.to_numpy(), dtype=np.float64)).sum()))
    return missing


def correspond(pairs: Iterable[tuple[Any, Any]]) -> bool:
    """Whether row i of one file seems to be row i of the other, by any column.

    `pairs` has each column of both files as numbers (ranks, or codes of equal values). Files that
    are assumed to be aligned and are not have no more correct links than chance, so a release in
    another order would seem safe. The test is the rank correlation, z > 4 or above 0.9.
    """
    for original, masked in pairs:
        x, y = np.asarray(original, float), np.asarray(masked, float)
        if len(x) != len(y) or len(x) < 3 or x.std() == 0 or y.std() == 0:
            continue
        along = float(np.corrcoef(x, y)[0, 1])
        if along > 0.9 or along * np.sqrt(len(x) - 1) > ALIGNED_Z:
            return True
    return False


def own_rows(
    original: nw.DataFrame[Any], masked: nw.DataFrame[Any], on: str | None, row_map: RowMap
) -> Ints | None:
    """For each original record the row of its masked record, -1 where it was suppressed."""
    if on is not None and row_map is not None:
        raise ParameterError(
            "The files are aligned by record numbers or by a row map, not both.",
            code="two-alignments",
            hint="Set either {on} or {row_map}.",
        )
    if on is not None:
        return _own_by_number(original, masked, on)
    if row_map is None:
        return np.arange(len(original)) if len(original) == len(masked) else None
    if isinstance(row_map, str):
        if row_map != "unknown":
            raise ParameterError(
                f"Parameter 'row_map' must be an array, 'unknown' or None; {row_map!r} is not a valid value.",
                parameter="row_map",
            )
        return None
    return _own_by_map(np.asarray(row_map), len(original), len(masked))


def _own_by_map(rows: Any, originals: int, masked: int) -> Ints:
    fault = ""
    if rows.shape != (masked,) or not np.issubdtype(rows.dtype, np.integer):
        fault = (
            f"A row map gives, for each of the {masked:,} masked records, the row of its original "
            f"(or -1); an array of shape {rows.shape} and type {rows.dtype} was given."
        )
    elif rows.min(initial=0) < -1 or rows.max(initial=0) >= originals:
        fault = f"A row map gives rows from 0 to {originals - 1}, or -1 for none."
    elif len(np.unique(rows[rows >= 0])) != (rows >= 0).sum():
        fault = "The row map gives an original record more than once."
    if fault:
        raise ParameterError(fault, code="row-map", parameter="row_map")
    masked_rows = np.full(originals, -1, dtype=np.int64)
    masked_rows[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    return masked_rows


def _own_by_number(original: nw.DataFrame[Any], masked: nw.DataFrame[Any], on: str) -> Ints:
    for frame, side in ((original, "original"), (masked, "masked")):
        if on not in frame.columns:
            raise unknown_columns([on], frame.columns)
        fault = ""
        if missing_values(frame[on]):
            fault = f"Record numbers are missing in column {on!r} of the {side} file."
        elif frame[on].n_unique() != len(frame):
            fault = f"Record numbers occur twice in column {on!r} of the {side} file."
        if fault:
            raise ColumnError(fault, code="record-numbers", columns=(on,))
    wanted, masked_numbers = original[on].to_arrow(), masked[on].to_arrow()
    try:
        positions = pc.index_in(wanted, value_set=pc.cast(masked_numbers, wanted.type))
    except pa.ArrowInvalid as error:
        raise ColumnError(
            f"The record numbers in column {on!r} have different types in the two files.",
            code="record-numbers",
            hint="Use integers in both files, or text in both files.",
            columns=(on,),
        ) from error
    return arrays.numbers(pc.fill_null(positions, -1)).astype(np.int64)
