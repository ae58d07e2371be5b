"""Columns: their names, their kinds, and their names inside an engine.

Inside an engine columns are called c0, c1, ...: names with quotes, dots, emoji or capitals that
differ in nothing else are common in real files, and every engine handles them differently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import narwhals.stable.v2 as nw

from crypsis.errors import ColumnError, SourceError

MAX_EXACT_INTEGER = 2**53
"""Not every larger integer is a double."""
MAX_COLUMNS = 10_000
"""Tables with more columns: the time of many a step grows with the square of their number."""


class Kind(StrEnum):
    """The kind of the values of a column, by its type."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIME = "time"
    NESTED = "nested"

    @property
    def ordered(self) -> bool:
        """Whether the values have a natural order."""
        return self in (Kind.INTEGER, Kind.NUMBER, Kind.DATE, Kind.TIME)

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return self in (Kind.INTEGER, Kind.NUMBER)


_KINDS: dict[type, Kind] = {
    nw.String: Kind.TEXT,
    nw.Categorical: Kind.TEXT,
    nw.Enum: Kind.TEXT,
    nw.Boolean: Kind.BOOLEAN,
    nw.Date: Kind.DATE,
    nw.Datetime: Kind.TIME,
    nw.Time: Kind.TIME,
    nw.Duration: Kind.TIME,
}


@dataclass(frozen=True)
class Column:
    """A column: its name, its kind, and its name inside the engine."""

    name: str
    kind: Kind
    inner: str
    duration: bool = False
    """Whether its integers are durations, in a unit of the source."""


def columns_of(
    frame: nw.LazyFrame[Any], names: Sequence[str], durations: Collection[str] = ()
) -> list[Column]:
    """The columns of a frame, c0, c1, ..., under their public names."""
    schema = frame.collect_schema()
    return [
        Column(name, _kind(dtype), inner, name in durations)
        for name, (inner, dtype) in zip(names, schema.items(), strict=True)
    ]


def _kind(dtype: Any) -> Kind:
    if dtype.is_integer():
        return Kind.INTEGER
    if dtype.is_numeric():
        return Kind.NUMBER
    if dtype.is_nested():
        return Kind.NESTED
    return _KINDS.get(type(dtype), _KINDS.get(dtype, Kind.NESTED))


def inner_names(count: int) -> list[str]:
    """The names that columns have inside an engine."""
    return [f"c{i}" for i in range(count)]


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, if each occurs once; a column without a name gets one."""
    if len(names) > MAX_COLUMNS:
        raise SourceError(
            f"The table has {len(names):,} columns; at most {MAX_COLUMNS:,} are read.",
            code="too-many-columns",
            hint="Keep the columns that are to be released.",
        )
    names = [name or f"unnamed_{position}" for position, name in enumerate(names, 1)]
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise ColumnError(
            f"More than one column is called {listed(repeated[:10])}.",
            code="repeated-column",
            columns=tuple(repeated),
            hint="Give each column its own name.",
        )
    return names


def listed(names: Iterable[str]) -> str:
    """Names in a sentence.

    >>> listed(["age", "zip"])
    "'age', 'zip'"
    """
    return ", ".join(repr(name) for name in names)
