"""Arrow IPC files, also called Feather."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather

from crypsis.errors import SourceError
from crypsis.options import ReadOptions
from crypsis.tables.schema import unique_names
from crypsis.tables.time_types import engine_types

_VERSION_1 = b"FEA1"


def read_arrow(path: str, reading: ReadOptions, written: Sequence[str] = ()) -> tuple[pa.Table, pa.Schema]:
    """The table of a file or a stream; dictionaries as their values."""
    reading.check_supported("an Arrow file", ())
    with Path(path).open("rb") as file:
        old = file.read(len(_VERSION_1)) == _VERSION_1
    if old:  # Arrow follows its offsets without a check, and ends the process where they are wrong
        raise SourceError(
            f"{Path(path).name!r} is a Feather file of version 1, which cannot be read safely.",
            code="not-arrow",
            hint="Write it anew in version 2, which pandas and Arrow have written since 2020.",
        )
    try:
        table = validated(pyarrow.feather.read_table(path, memory_map=False))
    except (pa.ArrowException, OSError, ValueError):
        table = _stream(path)
    columns = list(map(engine_types, table.columns))
    return pa.table(columns, names=unique_names(table.column_names)), table.schema


def validated(table: pa.Table) -> pa.Table:
    """A table whose offsets, lengths, indices and texts are all within their bounds.

    Reading takes them as they are in the file; whatever computes with them then reads beyond the
    memory of the table.
    """
    table.validate(full=True)
    return table


def _stream(path: str) -> pa.Table:
    try:
        with pa.OSFile(path) as file:
            return validated(pa.ipc.open_stream(file).read_all())
    except (pa.ArrowException, OSError, ValueError):
        raise SourceError(
            f"{Path(path).name!r} could not be read as an Arrow file, or is damaged.",
            code="not-arrow",
            hint="Set {format} if the file is of another kind.",
        ) from None


def write_arrow(batches: Iterable[pa.RecordBatch], names: Sequence[str], path: Path) -> None:
    """The values under their names; nothing remains in the places of missing values."""
    stream = (cleared(batch, names) for batch in batches)
    first = next(stream)
    with pa.ipc.new_file(path, first.schema, options=WRITING) as out:
        out.write_batch(first)
        for batch in stream:
            out.write_batch(batch)


_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
WRITING = pa.ipc.IpcWriteOptions(compression="lz4")


def cleared(batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """The same rows without metadata, dictionaries and what lies under missing values."""
    return pa.RecordBatch.from_arrays(list(map(_cleared, batch.columns)), names=list(names))


def _cleared(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    fresh = pa.concat_arrays([column])  # without what a slice leaves before and behind
    if pa.types.is_nested(kind) or pa.types.is_null(kind) or not column.null_count:
        return fresh
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        plain = pa.string() if pa.types.is_string_view(kind) else pa.binary()
        return column.cast(plain).cast(kind)
    if any(check(kind) for check in _TEXTS):
        empty = pa.scalar("").cast(kind)
    elif pa.types.is_boolean(kind):
        empty = pa.scalar(False)
    elif pa.types.is_fixed_size_binary(kind) or pa.types.is_interval(kind):
        return pa.array(column.to_pylist(), kind)
    else:
        empty = pa.scalar(0, pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)
    filled = pc.fill_null(column, empty)
    marks = pa.array(pc.is_valid(column)).buffers()[1]
    return pa.Array.from_buffers(kind, len(column), [marks, *filled.buffers()[1:]])
