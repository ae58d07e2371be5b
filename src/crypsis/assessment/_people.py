"""Whose records are released, where only the original knows it: people are counted, not records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.dataset import UNIT_KEYWORDS, Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.options import Role
from crypsis.tables import open_frame


def with_units(original: Dataset, absent: Mapping[str, str]) -> Dataset:
    """The original with the people and the households that its release was made without."""
    missing: dict[str, Any] = {
        unit: column
        for unit, column in absent.items()
        if getattr(original, unit) is None and column in original.names
    }
    return replace(original, **missing) if missing else original


def with_people(
    data: Dataset, original: Dataset | None, row_map: Sequence[int] | None = None, on: str | None = None
) -> Dataset:
    """The release with the people, and the households, that its original has: excluded columns.

    As it is where each of them has one record, or where it is not known whose records these are.
    """
    units = _units_of_original(original)
    if original is None or not units:
        return data
    try:
        rows = original_rows(data, original, row_map, on)
        if rows is None:
            return data
        table = data.to_arrow()
    except (InputError, TooLargeError):
        return data
    attached: dict[str, str] = {}
    for unit, column in units.items():
        values = original.to_arrow([column])[column].take(pa.array(rows))
        unit_column = getattr(data, unit)
        if unit_column is not None and _distinct(table[unit_column]) <= _distinct(values):
            continue  # the release has them itself
        attached[unit] = _free(column, table.column_names)
        table = table.append_column(attached[unit], values)
    if not attached:
        return data
    roles = {**data.roles, **dict.fromkeys(attached.values(), Role.EXCLUDED)}
    fields: dict[str, Any] = attached
    return replace(data, rows=open_frame(table), roles=roles, **fields)


def original_rows(
    data: Dataset, original: Dataset | None, row_map: Sequence[int] | None, on: str | None
) -> NDArray[np.int64] | None:
    """The original row of each released record; None where it is not known.

    That files of one length have the same order is assumed elsewhere, but people are not counted by
    it: in a release in another order, records of one person would seem to be of several.
    """
    if original is None or (row_map is None and on is None):
        return None
    if not (data.rows.local and original.rows.local):
        return None
    from crypsis.linkage import true_matches  # loading it takes a second

    names = [] if on is None else [on]
    before, after = (_numbered(dataset, names) for dataset in (original, data))
    masked_rows = true_matches(before, after, on=on, row_map=row_map)
    if masked_rows is None:
        return None
    rows_of_release = np.full(data.count, -1, np.int64)
    rows_of_release[masked_rows[masked_rows >= 0]] = np.flatnonzero(masked_rows >= 0)
    return None if (rows_of_release < 0).any() else rows_of_release


def _units_of_original(original: Dataset | None) -> Mapping[str, str]:
    """The people and the households of the original that have several records, by their column."""
    if original is None:
        return {}
    named = {unit: getattr(original, unit) for unit in UNIT_KEYWORDS}
    return {
        unit: column for unit, column in named.items() if column is not None and repeats(original, column)
    }


def repeats(data: Dataset, column: str) -> bool:
    """Whether a value is in several records, or that is not known."""
    if column not in data.names:
        return True
    counted = data.rows.tally([column])
    return counted.estimated or bool(counted.values < counted.rows - counted.missing)


def _numbered(data: Dataset, names: list[str]) -> pa.Table:
    """The record numbers, or as many rows of nothing."""
    if names:
        return data.to_arrow(names)
    return pa.table({"row": np.zeros(data.count, np.int8)})


def _distinct(values: pa.ChunkedArray) -> int:
    return len(values.drop_null().unique())


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += " of the original"
    return name
