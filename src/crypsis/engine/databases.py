"""Tables in databases: DuckDB and SQLite files, PostgreSQL servers.

DuckDB files are asked in place. The others are read once, in a stream, by their ADBC driver into a
private DuckDB table (which spills to disk when it must) when the first question is asked; DuckDB's
own connectors are downloads and cannot be relied on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from crypsis.engine.duck import inner_names, quote, translated
from crypsis.engine.reading import Reading
from crypsis.errors import SourceError

_TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name",
    "postgresql": (
        "SELECT table_name FROM information_schema.tables "
        "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY table_name"
    ),
}


def attach_duckdb(
    connection: duckdb.DuckDBPyConnection, path: str, reading: Reading
) -> tuple[str, list[str]]:
    """The SQL of a table or query in a DuckDB file, opened for reading only."""
    from crypsis.engine.duck import literal

    reading.only("a DuckDB file", ("table", "query"))
    with translated(repr(path.rsplit("/", 1)[-1])):
        connection.execute(f"ATTACH {literal(path)} AS source (READ_ONLY)")
        connection.execute("USE source")
        listed = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'source' ORDER BY 1"
        tables = [row[0] for row in connection.sql(listed).fetchall()]
    sql = _query(reading, tables)
    with translated("the query"):
        return sql, list(connection.sql(f"SELECT * FROM ({sql}) LIMIT 0").columns)


class AdbcSource:
    """A table or query that an ADBC driver reads."""

    def __init__(self, uri: str, driver: str, reading: Reading) -> None:
        reading.only("a database", ("table", "query"))
        self.uri, self.driver = uri, driver
        with self._cursor() as cursor:
            tables: list[str] = []
            if (reading.table is None and reading.query is None) or reading.table is not None:
                cursor.execute(_TABLES[driver])
                tables = [row[0] for row in cursor.fetchall()]
            self.sql = _query(reading, tables)
            cursor.execute(f"SELECT * FROM ({self.sql}) AS source LIMIT 0")
            self.names: list[str] = cursor.fetch_record_batch().schema.names

    def copy_into(self, connection: duckdb.DuckDBPyConnection, table: str) -> None:
        """Stream the rows into a table of ours with columns c0, c1, ..."""
        with self._cursor() as cursor:
            cursor.execute(self.sql)
            reader = cursor.fetch_record_batch()
            plain = [_storage(field.type) for field in reader.schema]
            schema = pa.schema(list(zip(inner_names(len(plain)), plain, strict=True)))
            stream = pa.RecordBatchReader.from_batches(schema, _renamed(reader, schema))
            columns = [
                f"CAST({name} AS DOUBLE) AS {name}" if _is_numeric(field.type) else name
                for name, field in zip(schema.names, reader.schema, strict=True)
            ]
            connection.register("adbc_stream", stream)
            try:
                with translated("reading the database"):
                    connection.execute(
                        f"CREATE TEMP TABLE {table} AS SELECT {', '.join(columns)} FROM adbc_stream"
                    )
            finally:
                connection.unregister("adbc_stream")

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        from adbc_driver_manager import Error

        try:
            with self._connect() as database, database.cursor() as cursor:
                yield cursor
        except Error as error:
            raise SourceError(_trouble(error)) from None

    def _connect(self) -> Any:
        if self.driver == "sqlite":
            import adbc_driver_sqlite.dbapi

            return adbc_driver_sqlite.dbapi.connect(self.uri)
        import adbc_driver_postgresql.dbapi

        database = adbc_driver_postgresql.dbapi.connect(self.uri)
        with database.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = on")
        return database


def _trouble(error: Exception) -> str:
    """What the database said, without the connection string and without values."""
    text = str(error)
    if "connect" in text.lower() or "authentication" in text.lower():
        return (
            "The database cannot be reached with that connection string. Check host, port, user, "
            "password and database name."
        )
    missing = re.search(r'(?:relation|column|table):? "?([^"\s]+)"? does not exist', text)
    if missing:
        return f"The database has no {missing[1]!r}."
    state = getattr(error, "sqlstate", None)
    return f"The database refused the query{f' (SQLSTATE {state})' if state else ''}."


def _query(reading: Reading, tables: list[str]) -> str:
    """The query asked for, the table asked for, or the only table there is."""
    listed = ", ".join(repr(name) for name in tables[:40]) or "none"
    if reading.query is not None:
        return reading.query.strip().rstrip(";")
    name = reading.table
    if name is None:
        if len(tables) != 1:
            raise SourceError(
                f"Say which table (table=..., --table) or query; the tables are: {listed}."
            )
        name = tables[0]
    elif name.rsplit(".", 1)[-1] not in tables and name not in tables:
        raise SourceError(f"There is no table {name!r}; the tables are: {listed}.")
    parts = [name] if name in tables else name.split(".")
    return f"SELECT * FROM {'.'.join(quote(part) for part in parts)}"


def _renamed(reader: pa.RecordBatchReader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in reader:
        columns = [c.storage if isinstance(c, pa.ExtensionArray) else c for c in batch.columns]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _storage(kind: pa.DataType) -> pa.DataType:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _is_numeric(kind: pa.DataType) -> bool:
    return isinstance(kind, pa.BaseExtensionType) and "numeric" in str(kind)
