"""How a source is to be read: the options, checked, and which of them a kind of source knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from crypsis.errors import ParameterError

MISSING_MARKERS = ("", "?", "NA", "N/A", "NaN", "nan", "NULL", "null")
TYPES = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "date": "DATE",
    "time": "TIMESTAMP",
}


@dataclass(frozen=True)
class Reading:
    """How to read a source. What is None was not said and is found out or left at its default."""

    format: str | None = None
    """csv, parquet, json, excel, duckdb, sqlite; by default the name and first bytes tell."""
    names: Sequence[str] | None = None
    """The columns of a file without a header."""
    header: bool | None = None
    """Whether the first line names the columns; True unless names are given."""
    delimiter: str | None = None
    encoding: str | None = None
    missing_markers: Sequence[str] | None = None
    """The texts that mean a missing value."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Columns to be read as text, integer, number, date or time."""
    sheet: str | None = None
    table: str | None = None
    query: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.names, str) or isinstance(self.missing_markers, str):
            raise ParameterError("names and missing_markers are lists of texts, not one text.")
        if self.names is not None and self.header:
            raise ParameterError(
                "Give names for a file without a header, or header=True: not both."
            )
        if self.names is None and self.header is False:
            raise ParameterError("A file without a header needs names=[...] (--names a,b,c).")
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise ParameterError("The delimiter is one character, for example ';'.")
        if self.delimiter is not None and self.delimiter in '"\n\r\0':
            raise ParameterError("The delimiter is no quote, line end or NUL; try ';'.")
        if self.table is not None and self.query is not None:
            raise ParameterError("Give a table or a query, not both.")
        wrong = sorted(set(self.types.values()) - set(TYPES))
        if wrong:
            raise ParameterError(f"Unknown type {wrong[0]!r}; the types are: {', '.join(TYPES)}.")

    def only(self, kind: str, known: Sequence[str]) -> None:
        """Refuse an option that would have no effect on this kind of source."""
        for option in fields(self):
            given = getattr(self, option.name)
            silent = given is None or given == {} or option.name in ("format", "missing_markers")
            if not silent and option.name not in known:
                raise ParameterError(f"The option {option.name!r} means nothing for {kind}.")
