"""Database files: other tables, views, functions, comments, remains of deleted rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote as quote_uri

import duckdb

from crypsis.options import ReadOptions
from crypsis.tables.contents._content import Content
from crypsis.tables.duckdb.connection import connect
from crypsis.tables.sql import literal

_DUCKDB = """
    SELECT 'table', schema_name, table_name, comment FROM duckdb_tables()
    WHERE database_name = 'source'
    UNION ALL SELECT 'view', schema_name, view_name, comment FROM duckdb_views()
    WHERE database_name = 'source' AND NOT internal
    UNION ALL SELECT 'function', schema_name, function_name, comment FROM duckdb_functions()
    WHERE database_name = 'source' AND NOT internal
    UNION ALL SELECT 'sequence', schema_name, sequence_name, comment FROM duckdb_sequences()
    WHERE database_name = 'source'
    UNION ALL SELECT 'type', schema_name, type_name, comment FROM duckdb_types()
    WHERE database_name = 'source' AND NOT internal
    ORDER BY ALL
"""
_DUCKDB_COMMENTS = """
    SELECT table_name, column_name FROM duckdb_columns()
    WHERE database_name = 'source' AND NOT internal AND comment IS NOT NULL ORDER BY ALL
"""
_SQLITE = """
    SELECT type, name FROM sqlite_master
    WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND type IN ('table', 'view', 'trigger')
    ORDER BY type, name
"""


def duckdb_contents(path: str, reading: ReadOptions) -> Iterator[Content]:
    """What a DuckDB file has besides the table; of a query, all tables of the file."""
    connection = connect()
    try:
        place = literal(str(Path(path).absolute()))
        connection.execute(f"ATTACH {place} AS source (READ_ONLY, TYPE duckdb)")
        found = connection.execute(_DUCKDB).fetchall()
        comments = connection.execute(_DUCKDB_COMMENTS).fetchall()
    except duckdb.Error:
        yield Content("database", "The catalog of the database could not be inspected.")
        return
    finally:
        connection.close()
    named = [(schema, name) for kind, schema, name, _ in found if kind in ("table", "view")]
    tables = [(schema, name) for kind, schema, name, _ in found if kind == "table"]
    chosen = _chosen(reading, named, tables)
    for kind, schema, name, comment in found:
        title = name if schema == "main" else f"{schema}.{name}"
        if kind not in ("table", "view") or (schema, name) != chosen:
            yield Content(f"{kind}:{title}", f"The database has the {kind} {title!r}.")
        if comment is not None:
            yield Content(f"comment:{title}", f"The {kind} {title!r} has a comment.")
    for table, column in comments:
        yield Content(f"comment:{table}.{column}", f"Column {column!r} of {table!r} has a comment.")


def _chosen(
    reading: ReadOptions, named: list[tuple[str, str]], tables: list[tuple[str, str]]
) -> tuple[str, str] | None:
    """The table that is read, or None for a query, which may read a part of any."""
    if reading.query is not None:
        return None
    if reading.table is None:
        return (tables or named)[0] if named else None
    asked = reading.table
    schema, _, bare = asked.rpartition(".")
    by_name = [one for one in named if one[1] == asked]
    return next(iter(by_name or [one for one in named if one == (schema, bare)]), None)


def sqlite_contents(path: str, reading: ReadOptions) -> Iterator[Content]:
    """What a SQLite file has besides the table; of a query, all tables of the file."""
    place = quote_uri(str(Path(path).absolute()))
    try:
        database = sqlite3.connect(f"file:{place}?mode=ro", uri=True)
        try:
            found = [(kind, name) for kind, name in database.execute(_SQLITE)]
            (free,) = database.execute("PRAGMA freelist_count").fetchone()
        finally:
            database.close()
    except sqlite3.Error:
        yield Content("database", "The catalog of the database could not be inspected.")
        return
    named = [("main", name) for kind, name in found if kind in ("table", "view")]
    chosen = _chosen(reading, named, named)
    for kind, name in found:
        if kind == "trigger" or ("main", name) != chosen:
            yield Content(f"{kind}:{name}", f"The database has the {kind} {name!r}.")
    if free:
        text = "The database has pages of deleted rows, which can be recovered."
        yield Content("deleted-rows", text)
    for suffix in ("-wal", "-journal"):
        if Path(path + suffix).exists():
            name = Path(path + suffix).name
            yield Content(f"file:{name}", f"File {name!r} has rows of the database.")
