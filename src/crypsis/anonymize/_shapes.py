"""What the columns hold before anything is done to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow.compute as pc

from crypsis.engine.base import Kind
from crypsis.errors import ColumnError
from crypsis.release import Release

NUMBERS = (Kind.INTEGER, Kind.NUMBER)
_POSTAL = ("zip", "postal", "postcode", "plz", "postleitzahl", "pincode")


@dataclass(frozen=True)
class Shape:
    """What is known of a column before anything is done to it."""

    name: str
    kind: Kind
    distinct: int
    low: Any
    high: Any
    width: int
    """Characters of the longest value, for codes."""
    digits: bool
    """Whether all values are made of digits and, as text, equally long."""


def shapes(
    release: Release, names: Sequence[str], *, count_numbers: bool = True
) -> dict[str, Shape]:
    """The columns' kinds, numbers of values, extremes and widths, in one scan.

    Counting the values of many columns of numbers is most of the work; without `count_numbers` a
    column of numbers is taken to have as many as there are rows.
    """
    rows = release.rows
    parts = []
    for i, name in enumerate(names):
        column = rows.column(name)
        if column.kind is Kind.NESTED:
            raise ColumnError(
                f"The column {name!r} holds lists or structures; flatten it or leave it out."
            )
        cell = nw.col(column.inner)
        if not count_numbers and column.kind in NUMBERS and not postal(name):
            continue
        if count_numbers or column.kind not in NUMBERS:
            parts += [cell.n_unique().alias(f"n{i}"), cell.is_null().any().alias(f"m{i}")]
        if column.kind.ordered:
            parts += [cell.min().alias(f"a{i}"), cell.max().alias(f"b{i}")]
        if column.kind is Kind.TEXT:
            length = cell.cast(nw.String).str.len_chars()
            odd = cell.cast(nw.String).str.contains("[^0-9]")
            parts += [length.max().alias(f"w{i}"), length.min().alias(f"v{i}")]
            parts.append(odd.any().alias(f"d{i}"))
    found: dict[str, Any] = {}
    if parts:
        found = rows._fetch(rows.frame.select(*parts), "looking at columns").to_pylist()[0]
    return {name: _shape(rows.column(name), i, found, rows.count) for i, name in enumerate(names)}


def counted_shapes(release: Release, names: Sequence[str]) -> dict[str, Shape]:
    """The same from cells that were counted already: no scan."""
    return {name: _counted_shape(release, name) for name in names}


def _counted_shape(release: Release, name: str) -> Shape:
    kind = release.rows.column(name).kind
    values = release.cells([name]).values[0].drop_null()  # in their order
    low = high = None
    width, digits = 0, False
    if kind.ordered and len(values):
        low, high = values[0].as_py(), values[-1].as_py()
    if kind is Kind.TEXT and len(values):
        lengths = pc.utf8_length(values)
        width = pc.max(lengths).as_py()
        odd = pc.any(pc.match_substring_regex(values, "[^0-9]")).as_py()
        digits = not odd and width == pc.min(lengths).as_py()
    if kind is Kind.INTEGER and low is not None:
        width, digits = len(str(high)), low >= 0
    return Shape(name, kind, len(values), low, high, width, bool(digits))


def _shape(column: Any, i: int, found: Mapping[str, Any], rows: int) -> Shape:
    low, high = found.get(f"a{i}"), found.get(f"b{i}")
    distinct = rows
    if f"n{i}" in found:
        distinct = int(found[f"n{i}"]) - bool(found[f"m{i}"])
    width = int(found.get(f"w{i}") or 0)
    digits = column.kind is Kind.TEXT and not found[f"d{i}"] and width == int(found[f"v{i}"] or 0)
    if column.kind is Kind.INTEGER and low is not None:
        width, digits = len(str(high)), low >= 0
    return Shape(column.name, column.kind, distinct, low, high, width, bool(digits))


def postal(name: str) -> bool:
    """Whether a column is called like a postal code."""
    return any(word in name.lower() for word in _POSTAL)
