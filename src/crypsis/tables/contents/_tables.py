"""Which table of a database is read."""

from __future__ import annotations

from collections.abc import Sequence

from crypsis.options import ReadOptions


def chosen_table(
    reading: ReadOptions, named: Sequence[tuple[str, str]], tables: Sequence[tuple[str, str]]
) -> tuple[str, str] | None:
    """The table that is read, or None for a query, which may read a part of any."""
    if reading.query is not None:
        return None
    if reading.table is None:
        return (tables or named)[0] if named else None
    table = reading.table
    schema, _, bare = table.rpartition(".")
    by_name = [one for one in named if one[1] == table]
    return next(iter(by_name or [one for one in named if one == (schema, bare)]), None)
