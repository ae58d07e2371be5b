"""SQLite files, written by Python's own library."""

from __future__ import annotations

import datetime
import decimal
import errno
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa

from crypsis.errors import OutputError
from crypsis.tables.sql import quote

_OF_THE_DISK = {sqlite3.SQLITE_FULL: errno.ENOSPC, sqlite3.SQLITE_IOERR: errno.EIO}


def write_table(
    batches: Iterable[pa.RecordBatch], names: Sequence[str], path: Path, table: str
) -> None:
    """A file with one table; dates and times are texts, as SQLite has them."""
    target = quote(table.rsplit(".", 1)[-1])
    try:
        with closing(sqlite3.connect(path)) as database, database:
            made = False
            for batch in batches:
                if not made:
                    columns = ", ".join(
                        f"{quote(name)} {_type(kind)}"
                        for name, kind in zip(names, batch.schema.types, strict=True)
                    )
                    database.execute(f"CREATE TABLE {target} ({columns})")
                    made = True
                marks = ", ".join("?" * len(names))
                rows = zip(*(map(_value, column.to_pylist()) for column in batch.columns),
                           strict=True)  # fmt: skip
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
