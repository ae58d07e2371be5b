"""Cells that a spreadsheet would run as formulas, written so that it shows them instead."""

from __future__ import annotations

import re

import narwhals.stable.v2 as nw

# How formulas begin in spreadsheets. Apostrophes in front count too, so that no two cells become
# equal: =a becomes '=a, and '=a becomes ''=a.
_FORMULA = "^'*[=+\\-@\\t\\r\\n]"


def neutral_name(name: str) -> str:
    """The name of a column as a cell that is not a formula.

    >>> neutral_name("=1+1"), neutral_name("age")
    ("'=1+1", 'age')
    """
    return f"'{name}" if re.match(_FORMULA, name) else name


def neutral_text(inner: str) -> nw.Expr:
    """A column of texts in which those that begin like a formula get an apostrophe in front."""
    cell = nw.col(inner)
    marked = nw.concat_str(nw.lit("'"), cell)
    return nw.when(cell.str.contains(_FORMULA)).then(marked).otherwise(cell).alias(inner)
