"""Delta tables by `deltalake`, Iceberg tables by `pyiceberg`: their newest version."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from crypsis.errors import SourceError
from crypsis.extras import import_extra
from crypsis.options import ReadOptions
from crypsis.tables.schema import unique_names


def read_delta(
    path: str, reading: ReadOptions, written: Sequence[str] = ()
) -> tuple[pa.Table, None]:
    """The rows of a folder with a `_delta_log`."""
    reading.check_supported("a Delta table", ())
    deltalake = import_extra("deltalake", "Reading Delta tables", "delta")
    try:
        found = pa.table(deltalake.DeltaTable(path).to_pyarrow_table())
    except (deltalake.exceptions.DeltaError, OSError, pa.ArrowException):
        raise _unreadable(path, "a Delta table") from None
    return _named(found), None


def read_iceberg(
    path: str, reading: ReadOptions, written: Sequence[str] = ()
) -> tuple[pa.Table, None]:
    """The rows of a folder with `metadata`, whose newest `.metadata.json` counts."""
    reading.check_supported("an Iceberg table", ())
    import_extra("pyiceberg", "Reading Iceberg tables", "iceberg")
    from pyiceberg.table import StaticTable

    newest = max(Path(path).glob("metadata/*.metadata.json"), default=None, key=_version)
    if newest is None:
        raise _unreadable(path, "an Iceberg table")
    try:
        found = StaticTable.from_metadata(str(newest)).scan().to_arrow()
    except (ValueError, OSError, pa.ArrowException):
        raise _unreadable(path, "an Iceberg table") from None
    return _named(found), None


def _version(path: Path) -> int:
    """The number that a metadata file begins with: 00002-...json or v2.metadata.json."""
    digits = "".join(sign for sign in path.name.split("-")[0].split(".")[0] if sign.isdecimal())
    return int(digits or 0)


def _named(table: Any) -> pa.Table:
    return table.rename_columns(unique_names(table.column_names)).replace_schema_metadata(None)


def _unreadable(path: str, what: str) -> SourceError:
    return SourceError(f"{Path(path).name!r} could not be read as {what}.", code="not-a-table")
