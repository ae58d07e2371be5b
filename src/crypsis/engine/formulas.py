"""Cells that a spreadsheet would run as formulas, written so that it shows them instead."""

from __future__ import annotations

import re
from typing import Any

import narwhals.stable.v2 as nw

from crypsis.engine.base import Column, Kind
from crypsis.engine.frames import Rows

# What spreadsheets take for the beginning of a formula. Apostrophes in front count too, so that no
# two cells become equal: =a becomes '=a, and '=a becomes ''=a.
_FORMULA = "^'*[=+\\-@\\t\\r\\n]"


def neutral_name(name: str) -> str:
    """The name of a column as a cell that is no formula.

    >>> neutral_name("=1+1"), neutral_name("age")
    ("'=1+1", 'age')
    """
    return f"'{name}" if re.match(_FORMULA, name) else name


def without_formulas(rows: Rows) -> Rows:
    """The same rows; texts and names that begin like a formula get an apostrophe in front."""
    columns = [Column(neutral_name(c.name), c.kind, c.inner) for c in rows.columns]

    def load() -> nw.LazyFrame[Any]:
        parts = [
            _neutral(column.inner) if column.kind is Kind.TEXT else nw.col(column.inner)
            for column in columns
        ]
        return rows.frame.select(*parts)

    return Rows(columns, load, rows.backend)


def _neutral(inner: str) -> nw.Expr:
    cell = nw.col(inner)
    marked = nw.concat_str(nw.lit("'"), cell)
    runs = cell.str.contains(_FORMULA)
    return nw.when(runs).then(marked).otherwise(cell).alias(inner)
