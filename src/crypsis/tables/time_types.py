"""Durations and time zones of columnar files, which engines do not keep.

Durations are read as the number of their units and times as instants; a release of the same format
has the types of its source again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa


def time_types(schema: pa.Schema) -> dict[str, pa.DataType]:
    """The columns of a file whose type an engine would not keep."""
    return {
        field.name: field.type
        for field in schema
        if pa.types.is_duration(field.type) or getattr(field.type, "tz", None) is not None
    }


def engine_types(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of a file as DuckDB takes it."""
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    if pa.types.is_duration(column.type):  # an order and an exact value, in its own unit
        return column.cast(pa.int64())
    return column.cast(pa.float32()) if pa.types.is_float16(column.type) else column


def with_time_types(
    batches: Iterable[pa.RecordBatch], names: Sequence[str], kinds: Mapping[str, pa.DataType]
) -> Iterator[pa.RecordBatch]:
    """Batches with the types that their columns had, where the values were not generalized."""
    for batch in batches:
        columns = [
            _restored(column, kinds.get(name))
            for name, column in zip(names, batch.columns, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, names=list(names))


def _restored(column: pa.Array, kind: pa.DataType | None) -> pa.Array:
    if kind is None:
        return column
    if pa.types.is_duration(kind):
        return column.cast(kind) if pa.types.is_int64(column.type) else column
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return column.cast(pa.timestamp(column.type.unit, kind.tz))
    return column
