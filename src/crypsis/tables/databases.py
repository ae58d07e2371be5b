"""Tables in databases: DuckDB and SQLite files, PostgreSQL servers.

Tables of DuckDB files are read in place, under their full names, in a connection of ours. Views
and queries run in a connection of their own, which reads nothing but the file, and their rows are
copied: code that a file brings along never runs where we count. The other databases are read once,
in a stream, by their ADBC driver into a private DuckDB table, which spills to disk; DuckDB's own
connectors are downloads, which may be unavailable.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_uri

import duckdb
import pyarrow as pa

from crypsis.errors import SourceError, TooLargeError
from crypsis.extras import import_extra
from crypsis.options import ReadOptions
from crypsis.tables.duckdb.connection import connect_sealed, translated
from crypsis.tables.queries import one_query
from crypsis.tables.schema import inner_names, listed
from crypsis.tables.sql import literal, quote

_TABLES = {
    "sqlite": "SELECT 'main', name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY 2",
    "postgresql": (
        "SELECT table_schema::text, table_name::text FROM information_schema.tables "
        "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 2, 1"
    ),
}
_DUCKDB_TABLES = """
    SELECT schema_name, table_name, false FROM duckdb_tables() WHERE database_name = 'source'
    UNION ALL
    SELECT schema_name, view_name, true FROM duckdb_views()
    WHERE database_name = 'source' AND NOT internal ORDER BY 2, 1
"""
_SHADOWING = """
    SELECT function_name FROM duckdb_functions() WHERE database_name = 'source' AND NOT internal
    AND lower(function_name) IN (SELECT lower(function_name) FROM duckdb_functions() WHERE internal)
    UNION SELECT view_name FROM duckdb_views() WHERE database_name = 'source' AND NOT internal
    AND lower(view_name) IN (SELECT lower(view_name) FROM duckdb_views() WHERE internal)
    UNION SELECT type_name FROM duckdb_types() WHERE database_name = 'source' AND NOT internal
    AND lower(type_name) IN (SELECT lower(type_name) FROM duckdb_types() WHERE internal)
"""
_BATCH_ROWS = 65_536
_POSTGRESQL_SETTINGS = (
    # Of the transaction that the driver has begun; it cannot be undone after a query.
    "SET TRANSACTION READ ONLY",
    "SET default_transaction_read_only = on",
    # Built-in functions and operators before those that were put into another schema.
    "SELECT pg_catalog.set_config('search_path', pg_catalog.concat('pg_catalog, ', "
    "pg_catalog.current_setting('search_path')), false)",
)


def sqlite_uri(path: str) -> str:
    """The address of a SQLite file that is opened for reading only.

    >>> sqlite_uri("/data/a%62#1.sqlite")
    'file:/data/a%2562%231.sqlite?mode=ro'
    """
    return f"file:{quote_uri(str(Path(path).absolute()))}?mode=ro"


def attach_duckdb(
    connection: duckdb.DuckDBPyConnection,
    path: str,
    reading: ReadOptions,
    max_rows: int | None = None,
) -> tuple[str, list[str]]:
    """The SQL of a table or query in a DuckDB file, opened for reading only."""
    reading.check_supported("a DuckDB file", ("table", "query"))
    place, short = str(Path(path).absolute()), repr(path.rsplit("/", 1)[-1])
    with translated(short):
        connection.execute(f"ATTACH {literal(place)} AS source (READ_ONLY, TYPE duckdb)")
        shadowing = [row[0] for row in connection.sql(_SHADOWING).fetchall()]
        found = connection.sql(_DUCKDB_TABLES).fetchall()
    if shadowing:
        raise SourceError(
            f"{short} has functions, views or types of its own that replace built-in ones: "
            f"{listed(shadowing[:10])}. Whatever is computed with them may be wrong.",
            code="shadowed-functions",
            hint="Copy the table to a new file, and use that.",
        )
    tables = [(schema, name) for schema, name, view in found if not view]
    sql, chosen = _query(reading, tables, [(s, n) for s, n, view in found if view])
    if chosen in tables:
        sql = f"SELECT * FROM source.{quote(chosen[0])}.{quote(chosen[1])}"
        with translated("the table"):
            return sql, list(connection.sql(f"{sql} LIMIT 0").columns)
    with translated("the query"):
        connection.execute("DETACH source")
        sealed = connect_sealed(place)
        try:
            if len(duckdb.extract_statements(sql)) != 1:
                raise duckdb.ParserException("several statements")
            reader = sealed.sql(sql).to_arrow_reader(_BATCH_ROWS)
            names = list(reader.schema.names)
            copy_rows(connection, reader, "copied", max_rows)
        finally:
            sealed.close()
    return "SELECT * FROM copied", names


def copy_rows(
    connection: duckdb.DuckDBPyConnection,
    reader: pa.RecordBatchReader,
    table: str,
    max_rows: int | None,
) -> None:
    """Stream rows into a private table with columns c0, c1, ...; too many end the stream."""
    plain = [_storage(field.type) for field in reader.schema]
    schema = pa.schema(list(zip(inner_names(len(plain)), plain, strict=True)))
    limit = _RowLimit(max_rows)
    stream = pa.RecordBatchReader.from_batches(schema, limit.batches(_renamed(reader, schema)))
    columns = [
        f"CAST({name} AS DOUBLE) AS {name}" if _is_numeric(field.type) else name
        for name, field in zip(schema.names, reader.schema, strict=True)
    ]
    connection.register("row_stream", stream)
    try:
        with translated("reading the database"):
            connection.execute(
                f"CREATE TEMP TABLE {table} AS SELECT {', '.join(columns)} FROM row_stream"
            )
    finally:
        connection.unregister("row_stream")
    limit.check()


class _RowLimit:
    """Ends a stream at the first batch that is too much; an error inside it would be swallowed."""

    def __init__(self, most: int | None) -> None:
        self.most, self.seen = most, 0

    def batches(self, stream: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in stream:
            self.seen += batch.num_rows
            if self.most is not None and self.seen > self.most:
                return
            yield batch

    def check(self) -> None:
        if self.most is not None and self.seen > self.most:
            raise too_many_rows(self.most)


def too_many_rows(most: int) -> TooLargeError:
    """The error for a source with more rows than may be read."""
    return TooLargeError(
        f"The table has more than {most:,} rows, which are the most that may be read.",
        code="too-many-rows",
        parameter="max_rows",
    )


class AdbcSource:
    """A table or query that an ADBC driver reads."""

    def __init__(
        self, uri: str, driver: str, reading: ReadOptions, written: Collection[str] = ()
    ) -> None:
        reading.check_supported("a database", ("table", "query"))
        self.uri, self.driver = uri, driver
        with self._cursor() as cursor:
            tables: list[tuple[str, str]] = []
            if reading.query is None:
                cursor.execute(_TABLES[driver])
                tables = [(row[0], row[1]) for row in cursor.fetchall()]
            self.sql, _ = _query(reading, tables)
            cursor.execute(f"SELECT * FROM ({self.sql}) AS source LIMIT 0")
            self.names: list[str] = cursor.fetch_record_batch().schema.names
        if driver == "sqlite" and written:  # a column may have the number 70 and the text 70
            columns = [
                f"nullif(quote({quote(name)}), 'NULL')" if name in written else quote(name)
                for name in self.names
            ]
            self.sql = f"SELECT {', '.join(columns)} FROM ({self.sql}) AS source"

    def copy_into(
        self, connection: duckdb.DuckDBPyConnection, table: str, max_rows: int | None = None
    ) -> None:
        """Stream the rows into a private table with columns c0, c1, ..."""
        with self._cursor() as cursor:
            cursor.execute(self.sql)
            stream, failed = cursor.fetch_record_batch(), list[Exception]()
            noting = pa.RecordBatchReader.from_batches(stream.schema, _noting(stream, failed))
            try:
                copy_rows(connection, noting, table, max_rows)
            except SourceError:
                if not failed:
                    raise
            if failed:
                raise database_error(failed[0]) from None

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        from adbc_driver_manager import Error

        try:
            with self._connect() as database, database.cursor() as cursor:
                yield cursor
        except Error as error:
            raise database_error(error) from None

    def _connect(self) -> Any:
        if self.driver == "sqlite":
            import adbc_driver_sqlite.dbapi

            database = adbc_driver_sqlite.dbapi.connect(self.uri)
            # Views of the file call no functions that do more than compute.
            settings: tuple[str, ...] = ("PRAGMA trusted_schema = OFF", "PRAGMA query_only = ON")
        else:
            driver = import_extra("adbc_driver_postgresql.dbapi", "Reading PostgreSQL")
            database = driver.connect(self.uri)
            settings = _POSTGRESQL_SETTINGS
        with database.cursor() as cursor:
            for setting in settings:
                cursor.execute(setting)
                cursor.fetchall()
        return database


def database_error(error: Exception) -> SourceError:
    """The error of a database, without the connection string and without values."""
    text = str(error)
    if "connect" in text.lower() or "authentication" in text.lower():
        return SourceError(
            "The database could not be reached with that connection string.",
            code="no-connection",
            hint="Check host, port, user, password and database name.",
        )
    missing = re.search(r'(?:relation|column|table):? "?([^"\s]+)"? does not exist', text)
    if missing:
        return SourceError(f"The database has no {missing[1]!r}.", code="no-table")
    state = getattr(error, "sqlstate", None)
    return SourceError(
        f"The database refused the query{f' (SQLSTATE {state})' if state else ''}.", code="query"
    )


def _query(
    reading: ReadOptions, tables: list[tuple[str, str]], views: Sequence[tuple[str, str]] = ()
) -> tuple[str, tuple[str, str] | None]:
    """The query, or that of a table or view under its full name, which is returned too."""
    if reading.query is not None:
        return one_query(reading.query), None
    every = [*tables, *views]
    repeated = {name for _, name in every if sum(one == name for _, one in every) > 1}
    usual = ("main", "public")
    known = (
        listed(
            name if schema in usual and name not in repeated else f"{schema}.{name}"
            for schema, name in every[:40]
        )
        or "none"
    )
    if reading.table is None:
        default = tables if tables else every
        if len(default) != 1:
            noun = "tables" if len(tables) == len(every) else "tables and views"
            raise SourceError(
                f"The database has {len(every)} {noun}: {known}.",
                code="which-table",
                hint="Set {table} or {query}.",
            )
        chosen = default[0]
    else:
        asked = reading.table
        schema, _, bare = asked.rpartition(".")
        found = [one for one in every if one[1] == asked]
        found = found or [one for one in every if one == (schema.rsplit(".", 1)[-1], bare)]
        if not found:
            raise SourceError(
                f"Table {asked!r} does not exist. The tables are: {known}.", code="no-table"
            )
        if len(found) > 1:
            raise SourceError(
                f"Table {asked!r} is in several schemas: {listed(one[0] for one in found)}.",
                code="which-table",
                hint="Write the schema before the name of the table.",
            )
        chosen = found[0]
    return f"SELECT * FROM {quote(chosen[0])}.{quote(chosen[1])}", chosen


def _noting(reader: pa.RecordBatchReader, failed: list[Exception]) -> Iterator[pa.RecordBatch]:
    """The batches; an error of the database is noted, because DuckDB replaces it."""
    try:
        yield from reader
    except (OSError, pa.ArrowException) as error:
        failed.append(error)
        raise


def _renamed(reader: pa.RecordBatchReader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in reader:
        columns = [c.storage if isinstance(c, pa.ExtensionArray) else c for c in batch.columns]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _storage(kind: pa.DataType) -> pa.DataType:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _is_numeric(kind: pa.DataType) -> bool:
    return isinstance(kind, pa.BaseExtensionType) and "numeric" in str(kind)
