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


def duration_columns(times: Mapping[str, pa.DataType]) -> list[str]:
    """Those of the columns that are durations."""
    return [name for name, kind in times.items() if pa.types.is_duration(kind)]


def engine_types(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as DuckDB takes it: categories as their values, views as what they show."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _values_of(column)
    if pa.types.is_null(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string())
    if pa.types.is_binary_view(kind):
        return column.cast(pa.binary())
    if pa.types.is_duration(kind):  # an order and an exact value, in its own unit
        return column.cast(pa.int64())
    if pa.types.is_time64(kind) and kind.unit == "ns":
        return _microseconds(column)
    return column.cast(pa.float32()) if pa.types.is_float16(kind) else column


def _values_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of categories, which Arrow does not look up where they are views."""
    chunks = []
    for chunk in column.chunks:
        values = engine_types(pa.chunked_array([chunk.dictionary])).combine_chunks()
        chunks.append(values.take(chunk.indices))
    return pa.chunked_array(chunks) if chunks else column.cast(pa.string())


def _microseconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times of day as DuckDB has them, unless they are finer."""
    try:
        return column.cast(pa.time64("us"))
    except pa.ArrowInvalid:
        return column


def with_time_types(
    batches: Iterable[pa.RecordBatch], names: Sequence[str], kinds: Mapping[str, pa.DataType]
) -> Iterator[pa.RecordBatch]:
    """Batches with the types that their columns had, where the values were not generalized."""
    for batch in batches:
        columns = [
            _restored(column, kinds.get(name)) for name, column in zip(names, batch.columns, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, names=list(names))


def _restored(column: pa.Array, kind: pa.DataType | None) -> pa.Array:
    if kind is None:
        return column
    if pa.types.is_duration(kind):
        return column.cast(kind) if pa.types.is_int64(column.type) else column
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp(column.type.unit, kind.tz))
    return column
