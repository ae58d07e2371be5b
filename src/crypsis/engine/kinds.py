"""What the texts of a CSV file are: integers, numbers, dates, times, or texts after all.

The first lines tell what is likely; every line has to agree, or at least the first 200,000 of a
large file. Numbers with leading zeros (zip codes) and those too long for 18 digits stay text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import duckdb

from crypsis.engine.duck import literal
from crypsis.engine.reading import TYPES
from crypsis.errors import unknown_columns

PATTERNS = {
    "integer": r"[+-]?(0|[1-9][0-9]{0,17})",
    "number": r"[+-]?((0|[1-9][0-9]{0,17})(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?",
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "time": r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?",
}
_COLUMNS_AT_ONCE, _MOST_TYPED_AT_ONCE = 20, 100
_SHAPES = {kind: re.compile(pattern) for kind, pattern in PATTERNS.items()}


def likely(
    rows: Sequence[Sequence[str]],
    markers: Sequence[str],
    names: Sequence[str],
    types: Mapping[str, str],
) -> list[list[str]]:
    """The kinds that each column may be by the first lines; all of them if it has no value there.

    What does not fit here is ruled out; what fits is only likely, and later lines decide.
    """
    for name in types:
        if name not in names:
            raise unknown_columns([name], names)
    candidates = []
    for place, name in enumerate(names):
        fields = {row[place] for row in rows if place < len(row)}
        seen = {field.strip() for field in fields if field not in markers} - set(markers)
        fits = [kind for kind, shape in _SHAPES.items() if all(map(shape.fullmatch, seen))]
        candidates.append([] if name in types else fits)
    return candidates


def typed_at_once(
    connection: duckdb.DuckDBPyConnection,
    split: str,
    names: Sequence[str],
    likely: list[list[str]],
    types: Mapping[str, str],
) -> bool:
    """Read a small file into the table `typed` in one pass, if all lines are as the first ones.

    Where a later line is of another kind, or a column without values so far has one, nothing is
    made and the answer is no. A broken file says no as well; who reads it next says why.
    """
    if len(names) > _MOST_TYPED_AT_ONCE:
        return False
    parts, unseen = [], []
    for place, (name, kinds) in enumerate(zip(names, likely, strict=True)):
        column = f"c{place}"
        if name in types:
            parts.append(f"CAST({column} AS {TYPES[types[name]]}) AS {column}")
        elif kinds and len(kinds) < len(PATTERNS):
            fits = f"{column} IS NULL OR {_shaped(column, kinds[0])}"
            cast = f"CAST({column} AS {TYPES[kinds[0]]})"
            parts.append(f"CASE WHEN {fits} THEN {cast} ELSE error('kind') END AS {column}")
        else:
            parts.append(column)
            unseen += [f"count({column})"] if kinds else []
    try:
        connection.execute(f"CREATE TEMP TABLE typed AS SELECT {', '.join(parts)} FROM ({split})")
        counted = ", ".join(["count(*)", *unseen])
        rows, *values = connection.execute(f"SELECT {counted} FROM typed").fetchall()[0]
    except duckdb.Error:
        return False
    if rows and not any(values):
        return True
    connection.execute("DROP TABLE typed")
    return False


def settled(
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    likely: list[list[str]],
    types: Mapping[str, str],
) -> list[str]:
    """The type of each column: what was asked for, or the narrowest that fits every line read."""
    kinds = _fitting(connection, "lines", likely)
    # A column without any value still fits every kind; it is text.
    found = [fit[0] if 0 < len(fit) < len(PATTERNS) else "text" for fit in kinds]
    return [types.get(name, kind) for name, kind in zip(names, found, strict=False)]


def _fitting(
    connection: duckdb.DuckDBPyConnection, table: str, kinds: list[list[str]]
) -> list[list[str]]:
    """Of the kinds that each column may still be, those that fit; nothing if there are no rows."""
    fitting: list[list[str]] = []
    # DuckDB takes time with the square of the expressions in a query: a few columns at a time.
    for start in range(0, len(kinds), _COLUMNS_AT_ONCE):
        block = kinds[start : start + _COLUMNS_AT_ONCE]
        tests = ["count(*)"]
        for i, candidates in enumerate(block, start):
            tests.append(f"count(c{i})")
            tests += [f"count(*) FILTER ({_test(f'c{i}', kind)})" for kind in candidates]
        row = list(connection.sql(f"SELECT {', '.join(tests)} FROM {table}").fetchall()[0])
        if row.pop(0) == 0:
            return []
        for candidates in block:
            there = row.pop(0)
            fits = [row.pop(0) == there for _ in candidates]
            fitting.append([kind for kind, fit in zip(candidates, fits, strict=True) if fit])
    return fitting


def _test(inner: str, kind: str) -> str:
    shape = _shaped(inner, kind)
    if kind == "integer":
        return shape
    return f"{shape} AND TRY_CAST({inner} AS {TYPES[kind]}) IS NOT NULL"


def _shaped(inner: str, kind: str) -> str:
    return f"regexp_full_match({inner}, {literal(PATTERNS[kind])})"
