"""SQLite files: written by Python's own library; which of their tables are computed."""

from __future__ import annotations

import datetime
import decimal
import errno
import re
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_uri

import pyarrow as pa

from crypsis.errors import OutputError
from crypsis.tables.sql import quote

_OF_THE_DISK = {sqlite3.SQLITE_FULL: errno.ENOSPC, sqlite3.SQLITE_IOERR: errno.EIO}


_DEFINITIONS = "SELECT name, type, rootpage, sql FROM sqlite_master WHERE type IN ('table', 'view')"
ANY_TABLE = "\0any table"
"""Stands for all tables where the catalog cannot be read."""


def sqlite_uri(path: str) -> str:
    """The address of a SQLite file that is opened for reading only.

    >>> sqlite_uri("/data/a%62#1.sqlite")
    'file:/data/a%2562%231.sqlite?mode=ro'
    """
    return f"file:{quote_uri(str(Path(path).absolute()))}?mode=ro"


def computing_tables(path: str) -> frozenset[str]:
    """The views, virtual tables and tables with generated columns of a file.

    Their values are computed at each reading.
    """
    try:
        with closing(sqlite3.connect(sqlite_uri(path), uri=True)) as database:
            return frozenset(
                name
                for name, kind, root, sql in database.execute(_DEFINITIONS).fetchall()
                if kind == "view"
                or not root
                or re.search(r"\bvirtual\b", sql or "", re.IGNORECASE)
                or any(
                    row[6] > 1 for row in database.execute(f"PRAGMA table_xinfo({quote(name)})").fetchall()
                )
            )
    except sqlite3.Error:
        return frozenset({ANY_TABLE})


def has_defaults(path: str, table: str) -> bool:
    """Whether columns of a table have default values, which rows without a value of theirs are read with."""
    try:
        with closing(sqlite3.connect(sqlite_uri(path), uri=True)) as database:
            columns = database.execute(f"PRAGMA table_xinfo({quote(table)})").fetchall()
    except sqlite3.Error:
        return True
    return any(column[4] is not None for column in columns)


def write_table(batches: Iterable[pa.RecordBatch], names: Sequence[str], path: Path, table: str) -> None:
    """A file with one table; dates and times are texts, as SQLite has them."""
    target = quote(table.rsplit(".", 1)[-1])
    try:
        with closing(sqlite3.connect(path)) as database, database:
            is_created = False
            for batch in batches:
                if not is_created:
                    columns = ", ".join(
                        f"{quote(name)} {_type(kind)}"
                        for name, kind in zip(names, batch.schema.types, strict=True)
                    )
                    database.execute(f"CREATE TABLE {target} ({columns})")
                    is_created = True
                marks = ", ".join("?" * len(names))
                rows = zip(*(map(_value, column.to_pylist()) for column in batch.columns), strict=True)
                database.executemany(f"INSERT INTO {target} VALUES ({marks})", rows)
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the kind of an error without its case
        if code in _OF_THE_DISK:
            raise OSError(_OF_THE_DISK[code], "") from None
        raise _unwritten() from None
    except (sqlite3.Error, OverflowError):
        raise _unwritten() from None


def _unwritten() -> OutputError:
    return OutputError(
        "SQLite does not have a type for one of the columns, or two names differ in capitals alone."
    )


def _type(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return "INTEGER"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "REAL"
    return "TEXT"


def _value(value: Any) -> Any:
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    return str(value) if isinstance(value, datetime.date | datetime.time) else value
