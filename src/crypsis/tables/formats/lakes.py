"""Delta tables by `deltalake`, Iceberg tables by `pyiceberg`: their newest version.

Delta tables are written, too: folders with paths relative to them, which can be moved to their place.
An Iceberg table belongs to a catalog and has absolute paths; a catalog takes up a Parquet file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from crypsis.errors import OutputError, SourceError
from crypsis.extras import import_extra
from crypsis.options import ReadOptions
from crypsis.tables.schema import unique_names


def read_delta(path: str, reading: ReadOptions, written: Sequence[str] = ()) -> tuple[pa.Table, None]:
    """The rows of a folder with a `_delta_log`."""
    reading.check_supported("a Delta table", ())
    deltalake = import_extra("deltalake", "Reading Delta tables", "delta")
    try:
        table = pa.table(deltalake.DeltaTable(path).to_pyarrow_table())
    except (deltalake.exceptions.DeltaError, OSError, pa.ArrowException):
        raise _unreadable(path, "a Delta table") from None
    return _named(table), None


def read_iceberg(path: str, reading: ReadOptions, written: Sequence[str] = ()) -> tuple[pa.Table, None]:
    """The rows of a folder with `metadata`, whose newest `.metadata.json` counts."""
    reading.check_supported("an Iceberg table", ())
    import_extra("pyiceberg", "Reading Iceberg tables", "iceberg")
    from pyiceberg.table import StaticTable

    newest = max(Path(path).glob("metadata/*.metadata.json"), default=None, key=_version)
    if newest is None:
        raise _unreadable(path, "an Iceberg table")
    try:
        table = StaticTable.from_metadata(str(newest)).scan().to_arrow()
    except (ValueError, OSError, pa.ArrowException):
        raise _unreadable(path, "an Iceberg table") from None
    return _named(table), None


def write_delta(batches: Iterator[pa.RecordBatch], names: Sequence[str], path: Path) -> None:
    """A new table of one version: without a history, and without statistics of the original."""
    deltalake = import_extra("deltalake", "Writing Delta tables", "delta")
    first = next(batches)
    schema = pa.schema(list(zip(names, first.schema.types, strict=True)))
    renamed = (batch.rename_columns(list(names)) for batch in chain([first], batches))
    reader = pa.RecordBatchReader.from_batches(schema, renamed)
    try:
        deltalake.write_deltalake(str(path), reader)
    except Exception:  # noqa: BLE001 - a type without a place in Delta is a bare Exception there
        raise OutputError(
            "The release could not be written as a Delta table.", hint="Write to a name ending in .parquet."
        ) from None


def _version(path: Path) -> int:
    """The number that a metadata file begins with: 00002-...json or v2.metadata.json."""
    digits = "".join(sign for sign in path.name.split("-")[0].split(".")[0] if sign.isdecimal())
    return int(digits or 0)


def _named(table: Any) -> pa.Table:
    return table.rename_columns(unique_names(table.column_names)).replace_schema_metadata(None)


def _unreadable(path: str, what: str) -> SourceError:
    return SourceError(f"{Path(path).name!r} could not be read as {what}.", code="not-a-table")
