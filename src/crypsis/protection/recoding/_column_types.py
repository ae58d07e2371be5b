"""Types, numbers of values and ranges of the columns, before anything is recoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow.compute as pc

from crypsis.columns.roles.names import read_name
from crypsis.dataset import Dataset
from crypsis.errors import ColumnError
from crypsis.tables import Kind

NUMBERS = (Kind.INTEGER, Kind.NUMBER)
_POSTAL = ("zip", "postal", "postcode", "plz", "postleitzahl", "pincode")

_MAX_CODES = 64
"""Integers that are named like codes are codes if they have at most so many values; else quantities."""


@dataclass(frozen=True)
class ColumnType:
    """The kind of a column, its number of values and their range."""

    name: str
    kind: Kind
    distinct: int
    low: Any
    high: Any
    width: int
    """Characters of the longest value, for codes."""
    digits: bool
    """Whether all values consist of digits and, as text, are equally long."""

    @property
    def dated(self) -> bool:
        """Whether values have a date: a time of day and a duration have none."""
        if self.kind is Kind.DATE:
            return True
        return self.kind is Kind.TIME and (self.low is None or hasattr(self.low, "year"))

    @property
    def coded(self) -> bool:
        """Whether it has few integers that are codes by its name, and not quantities."""
        few = self.kind is Kind.INTEGER and self.distinct <= _MAX_CODES
        return few and read_name(self.name).category

    @property
    def postal(self) -> bool:
        """Whether the column is named like a postal code."""
        return any(word in self.name.lower() for word in _POSTAL)


def column_types(data: Dataset, names: Sequence[str], *, count_numbers: bool = True) -> dict[str, ColumnType]:
    """The types of columns, in one scan.

    Counting the values of many numeric columns is most of the work; without `count_numbers` a
    numeric column is assumed to have as many values as there are rows.
    """
    rows = data.rows
    parts = []
    for i, name in enumerate(names):
        column = rows.column(name)
        if column.kind is Kind.NESTED:
            raise ColumnError(
                f"Column {name!r} has lists or structures. Flatten or remove it.", columns=(name,)
            )
        cell = nw.col(column.inner)
        counted = count_numbers or column.kind not in NUMBERS
        if not counted and not any(word in name.lower() for word in _POSTAL):
            continue
        if counted:
            parts += [cell.n_unique().alias(f"n{i}"), cell.is_null().any().alias(f"m{i}")]
        if column.kind.ordered:
            parts += [cell.min().alias(f"a{i}"), cell.max().alias(f"b{i}")]
        if column.kind is Kind.TEXT:
            length = cell.cast(nw.String).str.len_chars()
            odd = cell.cast(nw.String).str.contains("[^0-9]")
            parts += [length.max().alias(f"w{i}"), length.min().alias(f"v{i}")]
            parts.append(odd.any().alias(f"d{i}"))
    scanned: dict[str, Any] = {}
    if parts:
        scanned = rows.fetch(rows.frame.select(*parts), "types of columns").to_pylist()[0]
    return {name: _scanned(rows.column(name), i, scanned, rows.count) for i, name in enumerate(names)}


def counted_column_types(data: Dataset, names: Sequence[str]) -> dict[str, ColumnType]:
    """The same from cells that were counted already: no scan."""
    types = {}
    for name in names:
        kind = data.rows.column(name).kind
        values = data.cells([name]).values[0].drop_null()  # in ascending order
        low = high = None
        width, digits = 0, False
        if kind.ordered and len(values):
            low, high = values[0].as_py(), values[-1].as_py()
        if kind is Kind.TEXT and len(values):
            lengths = pc.utf8_length(values)
            width = pc.max(lengths).as_py()
            odd = pc.any(pc.match_substring_regex(values, "[^0-9]")).as_py()
            digits = not odd and width == pc.min(lengths).as_py()
        types[name] = _typed(name, kind, len(values), low, high, width, bool(digits))
    return types


def _scanned(column: Any, i: int, scanned: Mapping[str, Any], rows: int) -> ColumnType:
    distinct = int(scanned[f"n{i}"]) - bool(scanned[f"m{i}"]) if f"n{i}" in scanned else rows
    width = int(scanned.get(f"w{i}") or 0)
    digits = column.kind is Kind.TEXT and not scanned[f"d{i}"] and width == int(scanned[f"v{i}"] or 0)
    low, high = scanned.get(f"a{i}"), scanned.get(f"b{i}")
    return _typed(column.name, column.kind, distinct, low, high, width, bool(digits))


def _typed(name: str, kind: Kind, distinct: int, low: Any, high: Any, width: int, digits: bool) -> ColumnType:
    if kind is Kind.INTEGER and low is not None:
        width, digits = len(str(high)), low >= 0
    return ColumnType(name, kind, distinct, low, high, width, bool(digits))
