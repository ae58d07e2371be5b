"""Tables in databases: DuckDB and SQLite files, PostgreSQL servers.

Tables of DuckDB files are read in place, under their full names, in a connection of ours. Views,
queries and tables with computed columns are read in a process of their own, which reads nothing but
the file, and their rows are copied: code that a file brings along never runs where we count. The
other databases are read once, in a stream, by their ADBC driver into a private DuckDB table, which
spills to disk; DuckDB's own connectors are downloads, which may be unavailable.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from crypsis.errors import CrypsisError, SourceError, TooLargeError
from crypsis.extras import import_extra
from crypsis.options import ReadOptions
from crypsis.tables.duckdb.connection import translated
from crypsis.tables.formats.sqlite import ANY_TABLE, computing_tables, has_defaults, sqlite_uri
from crypsis.tables.isolated import isolated_rows
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
    SELECT schema_name, table_name, false, contains(sql, 'GENERATED ALWAYS AS'), EXISTS (
        FROM duckdb_columns() AS c WHERE c.database_name = 'source' AND c.table_oid = t.table_oid
        AND c.column_default IS NOT NULL)
    FROM duckdb_tables() AS t WHERE database_name = 'source'
    UNION ALL
    SELECT schema_name, view_name, true, true, false FROM duckdb_views()
    WHERE database_name = 'source' AND NOT internal ORDER BY 2, 1
"""
_DUCKDB_FUNCTIONS = """
    SELECT 1 FROM duckdb_functions() WHERE database_name = 'source' AND NOT internal LIMIT 1
"""
_SHADOWING = """
    SELECT function_name FROM duckdb_functions() WHERE database_name = 'source' AND NOT internal
    AND lower(function_name) IN (SELECT lower(function_name) FROM duckdb_functions() WHERE internal)
    UNION SELECT view_name FROM duckdb_views() WHERE database_name = 'source' AND NOT internal
    AND lower(view_name) IN (SELECT lower(view_name) FROM duckdb_views() WHERE internal)
    UNION SELECT type_name FROM duckdb_types() WHERE database_name = 'source' AND NOT internal
    AND lower(type_name) IN (SELECT lower(type_name) FROM duckdb_types() WHERE internal)
"""
BATCH_ROWS = 65_536
"""So many rows of a database are read at once."""
_POSTGRESQL_SETTINGS = (
    # Of the transaction that the driver has begun; it cannot be undone after a query.
    "SET TRANSACTION READ ONLY",
    "SET default_transaction_read_only = on",
    # Built-in functions and operators before those that were put into another schema.
    "SELECT pg_catalog.set_config('search_path', pg_catalog.concat('pg_catalog, ', "
    "pg_catalog.current_setting('search_path')), false)",
)


def attach_duckdb(
    connection: duckdb.DuckDBPyConnection,
    path: str,
    reading: ReadOptions,
    max_rows: int | None = None,
    memory_limit: str | None = None,
) -> tuple[str, list[str], bool]:
    """The SQL of a table or query in a DuckDB file, opened for reading only.

    The third value is whether code of the file computes the values, or may: a default value is code.
    """
    reading.check_supported("a DuckDB file", ("table", "query"))
    absolute_path, short = str(Path(path).absolute()), repr(path.rsplit("/", 1)[-1])
    with translated(short):
        connection.execute(f"ATTACH {literal(absolute_path)} AS source (READ_ONLY, TYPE duckdb)")
        shadowing = [row[0] for row in connection.sql(_SHADOWING).fetchall()]
        catalog = connection.sql(_DUCKDB_TABLES).fetchall()
    if shadowing:
        raise SourceError(
            f"{short} has functions, views or types of its own that replace built-in ones: "
            f"{listed(shadowing[:10])}. Whatever is computed with them may be wrong.",
            code="shadowed-functions",
            hint="Copy the table to a new file, and use that.",
        )
    tables = [(schema, name) for schema, name, is_view, *_ in catalog if not is_view]
    views = [(schema, name) for schema, name, is_view, *_ in catalog if is_view]
    computing = {(schema, name) for schema, name, _, computes, _ in catalog if computes}
    with_defaults = {(schema, name) for schema, name, *_, has_default in catalog if has_default}
    sql, chosen = _query(reading, tables, views)
    if chosen is not None and chosen not in computing:
        sql = f"SELECT * FROM source.{quote(chosen[0])}.{quote(chosen[1])}"
        with translated("the table"):
            return sql, list(connection.sql(f"{sql} LIMIT 0").columns), chosen in with_defaults
    with translated("the query"):
        has_functions = bool(connection.sql(_DUCKDB_FUNCTIONS).fetchall())
        connection.execute("DETACH source")
    what = "the query" if chosen is None else repr(chosen[1])
    job = {"format": "duckdb", "path": absolute_path, "sql": sql, "what": what}
    computed = bool(computing) or has_functions
    with isolated_rows(what, job, memory_limit=memory_limit, limited=computed) as rows:
        names = list(rows.schema.names)
        copy_rows(connection, rows, "copied", max_rows)
    return "SELECT * FROM copied", names, computed or bool(with_defaults)


def copy_rows(
    connection: duckdb.DuckDBPyConnection, reader: pa.RecordBatchReader, table: str, max_rows: int | None
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
            connection.execute(f"CREATE TEMP TABLE {table} AS SELECT {', '.join(columns)} FROM row_stream")
    except SourceError:
        if not limit.failed:
            raise
    finally:
        connection.unregister("row_stream")
    limit.check()


class _RowLimit:
    """Ends a stream at the first batch that is too much, and notes an error of the database.

    DuckDB replaces errors inside a stream by its own.
    """

    def __init__(self, most: int | None) -> None:
        self.most, self.seen = most, 0
        self.failed: CrypsisError | None = None

    def batches(self, stream: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            for batch in stream:
                self.seen += batch.num_rows
                if self.most is not None and self.seen > self.most:
                    return
                yield batch
        except CrypsisError as error:
            self.failed = error
            raise
        except (OSError, pa.ArrowException) as error:
            self.failed = database_error(error)
            raise

    def check(self) -> None:
        if self.failed is not None:
            raise self.failed from None
        if self.most is not None and self.seen > self.most:
            raise too_many_rows(self.most)


def too_many_rows(most: int) -> TooLargeError:
    """The error for a source with more rows than may be read."""
    return TooLargeError(
        f"The table has more than {most:,} rows, which are the most that may be read.",
        code="too-many-rows",
        parameter="max_rows",
    )


def copy_sqlite(
    connection: duckdb.DuckDBPyConnection,
    path: str,
    reading: ReadOptions,
    written: Collection[str],
    max_rows: int | None,
    memory_limit: str | None,
) -> tuple[list[str], bool]:
    """Copy a table, view or query of a SQLite file into the table `source`; returns its names.

    The second value is whether code of the file computes the values.
    """
    source = AdbcSource(sqlite_uri(path), "sqlite", reading, written)
    computing = computing_tables(path)
    computed = bool(computing & {source.table, ANY_TABLE}) or bool(computing and not source.table)
    if not computed and source.table is not None:
        source.copy_into(connection, "source", max_rows)
        return source.names, has_defaults(path, source.table)
    what = "the query" if reading.query is not None else repr(source.table)
    job = {
        "format": "sqlite",
        "path": path,
        "table": reading.table,
        "query": reading.query,
        "written": list(written),
        "what": what,
    }
    with isolated_rows(what, job, memory_limit=memory_limit, limited=computed) as rows:
        names = list(rows.schema.names)
        copy_rows(connection, rows, "source", max_rows)
        return names, computed


class AdbcSource:
    """A table or query that an ADBC driver reads."""

    def __init__(self, uri: str, driver: str, reading: ReadOptions, written: Collection[str] = ()) -> None:
        reading.check_supported("a database", ("table", "query"))
        self.uri, self.driver, self.written = uri, driver, written
        tables: list[tuple[str, str]] = []
        if reading.query is None:
            with self._cursor() as cursor:
                cursor.execute(_TABLES[driver])
                tables = [(row[0], row[1]) for row in cursor.fetchall()]
        self.sql, chosen = _query(reading, tables)
        self.table = None if chosen is None else chosen[1]
        """The table or view, None for a query."""

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns."""
        with self._cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({self.sql}) AS source LIMIT 0")
            return list(cursor.fetch_record_batch().schema.names)

    @contextmanager
    def rows(self) -> Iterator[pa.RecordBatchReader]:
        """The rows as a stream."""
        sql = self.sql
        if self.driver == "sqlite" and self.written:  # a column may have the number 70 and the text 70
            columns = [
                f"nullif(quote({quote(name)}), 'NULL') AS {quote(name)}"
                if name in self.written
                else quote(name)
                for name in self.names
            ]
            sql = f"SELECT {', '.join(columns)} FROM ({sql}) AS source"
        with self._cursor() as cursor:
            cursor.execute(sql)
            yield cursor.fetch_record_batch()

    def copy_into(
        self, connection: duckdb.DuckDBPyConnection, table: str, max_rows: int | None = None
    ) -> None:
        """Stream the rows into a private table with columns c0, c1, ..."""
        with self.rows() as stream:
            copy_rows(connection, stream, table, max_rows)

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
    all_tables = [*tables, *views]
    repeated = {name for _, name in all_tables if sum(candidate == name for _, candidate in all_tables) > 1}
    default_schemas = ("main", "public")
    table_names = (
        listed(
            name if schema in default_schemas and name not in repeated else f"{schema}.{name}"
            for schema, name in all_tables[:40]
        )
        or "none"
    )
    if reading.table is None:
        default = tables if tables else all_tables
        if len(default) != 1:
            noun = "tables" if len(tables) == len(all_tables) else "tables and views"
            raise SourceError(
                f"The database has {len(all_tables)} {noun}: {table_names}.",
                code="which-table",
                hint="Set {table} or {query}.",
            )
        chosen = default[0]
    else:
        table = reading.table
        schema, _, bare = table.rpartition(".")
        matching = [entry for entry in all_tables if entry[1] == table]
        matching = matching or [entry for entry in all_tables if entry == (schema.rsplit(".", 1)[-1], bare)]
        if not matching:
            raise SourceError(
                f"Table {table!r} does not exist. The tables are: {table_names}.", code="no-table"
            )
        if len(matching) > 1:
            raise SourceError(
                f"Table {table!r} is in several schemas: {listed(entry[0] for entry in matching)}.",
                code="which-table",
                hint="Write the schema before the name of the table.",
            )
        chosen = matching[0]
    return f"SELECT * FROM {quote(chosen[0])}.{quote(chosen[1])}", chosen


def _renamed(reader: pa.RecordBatchReader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in reader:
        columns = [c.storage if isinstance(c, pa.ExtensionArray) else c for c in batch.columns]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _storage(kind: pa.DataType) -> pa.DataType:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _is_numeric(kind: pa.DataType) -> bool:
    return isinstance(kind, pa.BaseExtensionType) and "numeric" in str(kind)
