"""Arrow files: metadata, and whether the file is what writing its table anew gives.

Under missing values, in dictionaries and between buffers a file can have values that no row has.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from crypsis.options import ReadOptions
from crypsis.tables.contents._content import Content
from crypsis.tables.contents._metadata import field_contents, key_contents, nan_contents
from crypsis.tables.formats.arrow_ipc import cleared, validated

_COMPRESSIONS = ("lz4", None, "zstd")


def arrow_contents(path: str, reading: ReadOptions) -> Iterator[Content]:
    """What a file has besides the values of its rows."""
    data = Path(path).read_bytes()
    try:
        reader = pa.ipc.open_file(pa.BufferReader(data))
        schema = reader.schema
        batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        validated(pa.Table.from_batches(batches, schema))
    except (pa.ArrowException, OSError, ValueError):  # a stream
        yield _not_anew(path)
        return
    yield from key_contents(schema.metadata or {}, schema)
    yield from field_contents(schema)
    yield from nan_contents(schema, batches)
    if not _is_written_anew(data, schema, batches):
        yield _not_anew(path)


def _not_anew(path: str) -> Content:
    text = (
        f"{Path(path).name!r} is not as its table is written anew: it can have values under missing ones, "
        "unused categories and bytes between its parts."
    )
    return Content("format:arrow", text)


def _is_written_anew(data: bytes, schema: pa.Schema, batches: list[pa.RecordBatch]) -> bool:
    """Whether writing the table, without what lies under missing values, gives the same bytes."""
    if any(pa.types.is_dictionary(field.type) for field in schema):
        return False
    for compression in _COMPRESSIONS:
        out = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.ipc.new_file(out, schema, options=options) as writer:
            for batch in batches:
                columns = cleared(batch, schema.names).columns
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
        if out.getvalue() == data:
            return True
    return False
