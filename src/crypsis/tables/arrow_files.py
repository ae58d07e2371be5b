"""Arrow tables as batches, and batches into a file where an engine has no better writer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet


def write(
    batches: Iterable[pa.RecordBatch], names: Sequence[str], path: Path, form: str, delimiter: str = ","
) -> None:
    """Stream `batches` into `path` under the public `names`."""
    stream = (_bare(batch, names) for batch in batches)
    first = next(stream)
    if form == "parquet":
        writer = pyarrow.parquet.ParquetWriter(path, first.schema, compression="zstd")
    else:
        options = pyarrow.csv.WriteOptions(delimiter=delimiter)
        writer = pyarrow.csv.CSVWriter(path, first.schema, write_options=options)
    with writer as out:
        out.write_batch(first)
        for batch in stream:
            out.write_batch(batch)


def _bare(batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """The values under their names: no metadata, and no dictionary with values that no row has."""
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(names))


def batches_of(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """A table's batches; an empty table is one batch, so that the schema is kept."""
    yield from table.to_batches() or [no_rows(table.schema)]


def no_rows(schema: pa.Schema) -> pa.RecordBatch:
    """A batch without rows."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, kind) for kind in schema.types], schema=schema)
