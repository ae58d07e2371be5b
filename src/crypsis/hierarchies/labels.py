"""The labels of hierarchies: values as text; dates by month, quarter, half-year, year, years."""

from __future__ import annotations

import datetime
from functools import cache
from typing import Any

import narwhals.stable.v2 as nw

from crypsis.errors import ParameterError

TOP = "*"
"""The root of a hierarchy: the suppressed value."""
PERIODS = {"20 years": 20, "40 years": 40, "80 years": 80}
"""Periods of years above the decade: each has two of the one before, and all end in 1999."""
UNITS = ("month", "quarter", "half-year", "year", "decade", *PERIODS)
_MONTHS = {"month": 1, "quarter": 3, "half-year": 6, "year": 12, "decade": 120} | {
    unit: 12 * years for unit, years in PERIODS.items()
}


def as_text(value: Any) -> str:
    """A value as hierarchies spell it: integral floats without the point, dates in ISO form."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def date_label(value: Any, unit: str) -> str:
    """A date by its month ("1987-03"), quarter ("1987-Q1"), half-year, year, decade or period.

    >>> [date_label(datetime.date(1987, 8, 9), unit) for unit in UNITS[:5]]
    ['1987-08', '1987-Q3', '1987-H2', '1987', '1980s']
    >>> [date_label(datetime.date(1987, 8, 9), unit) for unit in PERIODS]
    ['1980-1999', '1960-1999', '1920-1999']
    """
    return _month_label(value.year, value.month, unit)


@cache
def _month_label(year: int, month: int, unit: str) -> str:
    check_unit(unit)
    if unit == "month":
        return f"{year}-{month:02d}"
    if unit == "quarter":
        return f"{year}-Q{(month + 2) // 3}"
    if unit == "half-year":
        return f"{year}-H{(month + 5) // 6}"
    if unit in PERIODS:
        start = year - year % PERIODS[unit]
        return f"{start}-{start + PERIODS[unit] - 1}"
    return str(year) if unit == "year" else f"{year // 10 * 10}s"


def date_expression(column: nw.Expr, unit: str) -> nw.Expr:
    """The same label as an expression on the rows."""
    check_unit(unit)
    year, month = column.dt.year(), column.dt.month()
    if unit == "year":
        return year.cast(nw.String)
    if unit == "decade":
        return nw.concat_str((year - year % 10).cast(nw.String), nw.lit("s"))
    if unit in PERIODS:
        start = year - year % PERIODS[unit]
        end = (start + (PERIODS[unit] - 1)).cast(nw.String)
        return nw.concat_str(start.cast(nw.String), nw.lit("-"), end)
    if unit == "month":
        return nw.concat_str(year.cast(nw.String), nw.lit("-"), month.cast(nw.String).str.zfill(2))
    size, letter = (3, "-Q") if unit == "quarter" else (6, "-H")
    part = (month - 1 - (month - 1) % size) / size + 1
    return nw.concat_str(year.cast(nw.String), nw.lit(letter), part.cast(nw.Int64).cast(nw.String))


def first_day(label: str) -> datetime.date:
    """The first day of a label.

    >>> [str(first_day(label)) for label in ("1987-08", "87-H2", "987", "0s", "20-39")]
    ['1987-08-01', '0087-07-01', '0987-01-01', '0001-01-01', '0020-01-01']
    """
    head, _, part = label.partition("-")
    year = max(1, int(head.removesuffix("s")))
    if not part or last_year(label) is not None:
        return datetime.date(year, 1, 1)
    if part[0] == "Q":
        return datetime.date(year, 3 * int(part[1]) - 2, 1)
    if part[0] == "H":
        return datetime.date(year, 6 * int(part[1]) - 5, 1)
    return datetime.date(year, int(part), 1)


def last_year(label: str) -> int | None:
    """The last year of a label of several years; None if it has one year or less.

    The last year of a period is never a month: it is 19 or more.

    >>> [last_year(label) for label in ("1980s", "1980-1999", "1987", "1987-12", "1987-Q4")]
    [1989, 1999, None, None, None]
    """
    head, _, part = label.partition("-")
    if head.endswith("s"):
        return int(head.removesuffix("s")) + 9
    return int(part) if part.isdigit() and int(part) > 12 else None


def unit_name(unit: str) -> str:
    """A unit as a noun: "year", "period of 20 years"."""
    return f"period of {unit}" if unit in PERIODS else unit


def units_between(first: Any, last: Any, unit: str) -> int:
    """The number of months, quarters, ... from the first to the last date, both included."""
    size = _MONTHS[unit]
    start, end = (int(day.year * 12 + day.month - 1) // size for day in (first, last))
    return end - start + 1


def check_unit(unit: str) -> None:
    """Raise unless the unit is valid."""
    if unit not in UNITS:
        raise ParameterError(
            f"Parameter 'unit' must be {', '.join(UNITS)}; {unit!r} was given.", parameter="unit"
        )
