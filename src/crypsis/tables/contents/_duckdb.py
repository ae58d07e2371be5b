"""DuckDB files: other tables, views, functions, comments, defaults, blocks of earlier states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import numpy as np

from crypsis.options import ReadOptions
from crypsis.tables.contents._content import Content
from crypsis.tables.contents._tables import chosen_table
from crypsis.tables.duckdb.connection import connect
from crypsis.tables.sql import literal, quote

_CATALOG = """
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
    UNION ALL SELECT 'index', schema_name, index_name, comment FROM duckdb_indexes()
    WHERE database_name = 'source'
    ORDER BY ALL
"""
_COLUMNS = """
    SELECT schema_name, table_name, column_name, comment IS NOT NULL, column_default IS NOT NULL
    FROM duckdb_columns()
    WHERE database_name = 'source' AND NOT internal
    AND (comment IS NOT NULL OR column_default IS NOT NULL) ORDER BY ALL
"""
_CHECKS = """
    SELECT DISTINCT table_name FROM duckdb_constraints()
    WHERE database_name = 'source' AND constraint_type = 'CHECK' ORDER BY ALL
"""
_HEADERS = 3 * 4096
_CHECKSUM = 8


def duckdb_contents(path: str, reading: ReadOptions) -> Iterator[Content]:
    """What a DuckDB file has besides the table; of a query, all tables of the file."""
    connection = connect()
    try:
        place = literal(str(Path(path).absolute()))
        connection.execute(f"ATTACH {place} AS source (READ_ONLY, TYPE duckdb)")
        yield from _definitions(connection, reading)
        if _earlier(connection, path):
            text = "The file has blocks of earlier states, with deleted rows or copies of rows."
            yield Content("deleted-rows", text)
    except duckdb.Error:
        yield Content("database", "The catalog of the database could not be inspected.")
    finally:
        connection.close()
    log = Path(path + ".wal")
    if log.exists():
        yield Content(f"file:{log.name}", f"File {log.name!r} has rows of the database.")


def duckdb_table(path: str, reading: ReadOptions) -> str:
    """The name of the table that is read, or nothing."""
    connection = connect()
    try:
        place = literal(str(Path(path).absolute()))
        connection.execute(f"ATTACH {place} AS source (READ_ONLY, TYPE duckdb)")
        read = _read(connection.execute(_CATALOG).fetchall(), reading)
    except duckdb.Error:
        read = None
    finally:
        connection.close()
    return "" if read is None else read[1]


def _read(found: Sequence[tuple[str, str, str, str | None]], reading: ReadOptions) -> tuple[str, str] | None:
    named = [(schema, name) for kind, schema, name, _ in found if kind in ("table", "view")]
    tables = [(schema, name) for kind, schema, name, _ in found if kind == "table"]
    return chosen_table(reading, named, tables)


def _definitions(connection: duckdb.DuckDBPyConnection, reading: ReadOptions) -> Iterator[Content]:
    found = connection.execute(_CATALOG).fetchall()
    read = _read(found, reading)
    for kind, schema, name, comment in found:
        title = name if schema == "main" else f"{schema}.{name}"
        if kind not in ("table", "view") or (schema, name) != read:
            yield Content(f"{kind}:{title}", f"The database has the {kind} {title!r}.")
        if comment is not None:
            yield Content(f"comment:{title}", f"The {kind} {title!r} has a comment.")
    for schema, table, column, comment, default in connection.execute(_COLUMNS).fetchall():
        if comment:
            text = f"Column {column!r} of {table!r} has a comment."
            yield Content(f"comment:{table}.{column}", text)
        if default:
            text = f"Column {column!r} of {table!r} is computed, or has a default value."
            computed = read is None or (schema, table) == read
            yield Content(f"default:{table}.{column}", text, computed=computed)
    for (table,) in connection.execute(_CHECKS).fetchall():
        yield Content(f"check:{table}", f"Table {table!r} has a check, which contains values.")


def _earlier(connection: duckdb.DuckDBPyConnection, path: str) -> bool:
    """Whether blocks that no table uses have bytes other than zero, or bytes follow the blocks."""
    connection.execute("USE source")
    sizes = {row[0]: row[2] for row in connection.execute("PRAGMA database_size").fetchall()}
    size = int(sizes["source"])
    content = np.memmap(path, np.uint8, "r")
    count = (content.size - _HEADERS) // size
    if content[_HEADERS + count * size :].any():
        return True
    metadata = connection.execute("SELECT * FROM pragma_metadata_info()").fetchall()
    used = {int(block) for block, *_ in metadata}
    tables = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source'"
    ).fetchall()
    for schema, name in tables:
        place = literal(f"source.{quote(schema)}.{quote(name)}")
        rows = connection.execute(
            f"SELECT block_id, additional_block_ids FROM pragma_storage_info({place})"
        ).fetchall()
        used |= {int(one) for block, more in rows for one in (block, *(more or ()))}
    for block in range(count):
        if block not in used and content[_HEADERS + block * size :][:size].any():
            return True
    for block, parts, _, free in metadata:
        start = _HEADERS + int(block) * size + _CHECKSUM
        width = (size - _CHECKSUM) // int(parts) // 8 * 8
        for part in free:
            if content[start + part * width : start + (part + 1) * width].any():
                return True
    return False
