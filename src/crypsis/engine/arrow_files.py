"""Arrow tables as batches, and batches into a file where an engine has no better writer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet


def write(batches: Iterable[pa.RecordBatch], names: Sequence[str], path: Path, form: str) -> None:
    """Stream `batches` into `path` under the public `names`."""
    stream = (batch.rename_columns(list(names)) for batch in batches)
    first = next(stream)
    if form == "parquet":
        writer = pyarrow.parquet.ParquetWriter(path, first.schema, compression="zstd")
    else:
        writer = pyarrow.csv.CSVWriter(path, first.schema)
    with writer as out:
        out.write_batch(first)
        for batch in stream:
            out.write_batch(batch)


def batches_of(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """A table's batches; one without rows where it has none, so that the schema is not lost."""
    yield from table.to_batches() or [no_rows(table.schema)]


def no_rows(schema: pa.Schema) -> pa.RecordBatch:
    """A batch that holds nothing but its schema."""
    return pa.RecordBatch.from_pylist([], schema=schema)
