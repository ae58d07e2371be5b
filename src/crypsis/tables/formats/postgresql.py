"""A table of a PostgreSQL server as the place of a release: complete in one transaction, or not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow.parquet

from crypsis.errors import OutputError
from crypsis.extras import import_extra
from crypsis.tables.databases import database_error

SCHEMES = ("postgresql://", "postgres://")
_EXISTS = "SELECT 1 FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass($1)"


@dataclass(frozen=True)
class TableAddress:
    """The address of a table: that of its database, and its name behind a #.

    Examples
    --------
    >>> TableAddress.of("postgresql://me:password@host/study#public.release").shown
    'postgresql://host/study#public.release'
    """

    database: str
    """The connection string, with what it has of user and password."""
    schema: str | None
    table: str

    @classmethod
    def of(cls, text: str) -> TableAddress:
        """The address, or an error if it names no table."""
        database, _, name = text.partition("#")
        schema, _, table = unquote(name).rpartition(".")
        if not table:
            raise OutputError(
                "The address of the database names no table.",
                code="which-table",
                hint="Write its name behind a #: postgresql://user@host/database#schema.release",
            )
        return cls(database, schema or None, table)

    @property
    def shown(self) -> str:
        """The address without user, password and settings."""
        parts = urlsplit(self.database)
        host = (parts.netloc or "").rsplit("@", 1)[-1]
        return f"{parts.scheme}://{host}{parts.path}#{self.name}"

    @property
    def name(self) -> str:
        """The name of the table, with its schema if it has one."""
        return self.table if self.schema is None else f"{self.schema}.{self.table}"

    @property
    def _quoted(self) -> str:
        parts = (self.table,) if self.schema is None else (self.schema, self.table)
        return ".".join('"' + part.replace('"', '""') + '"' for part in parts)

    def check_free(self) -> None:
        """Refuse a table that exists."""
        with self._cursor() as (_, cursor):
            cursor.execute(_EXISTS, (self._quoted,))
            if cursor.fetchall():
                raise OutputError(
                    f"Table {self.name!r} exists already.", code="exists", hint="Set {overwrite=True}."
                )

    def write(self, file: Path, *, overwrite: bool) -> None:
        """The rows of a Parquet file become the table, in one transaction."""
        with pyarrow.parquet.ParquetFile(file) as parquet, self._cursor() as (database, cursor):
            batches = pyarrow.RecordBatchReader.from_batches(parquet.schema_arrow, parquet.iter_batches())
            schema = {} if self.schema is None else {"db_schema_name": self.schema}
            mode = "replace" if overwrite else "create"
            cursor.adbc_ingest(self.table, batches, mode=mode, **schema)
            cursor.execute(f"SELECT count(*) FROM {self._quoted}")
            if cursor.fetchone()[0] != parquet.metadata.num_rows:
                raise OutputError(f"Table {self.name!r} did not get all rows; it is not kept.")
            database.commit()

    @contextmanager
    def _cursor(self) -> Iterator[tuple[Any, Any]]:
        driver = import_extra("adbc_driver_postgresql.dbapi", "Writing to PostgreSQL")
        from adbc_driver_manager import Error

        try:
            with driver.connect(self.database) as database, database.cursor() as cursor:
                yield database, cursor
        except Error as error:
            source_error = database_error(error)
            raise OutputError(source_error.message, code=source_error.code, hint=source_error.hint) from None


def table_address(text: str) -> TableAddress | None:
    """The table that an address names; None if it is the address of something else.

    >>> table_address("release.csv") is None
    True
    """
    return TableAddress.of(text) if text.startswith(SCHEMES) else None
