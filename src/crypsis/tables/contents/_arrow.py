"""Arrow files: metadata, values of dictionaries that no row has, and bytes besides the table.

Whether a file has anything else is found by writing its table anew, without what lies under missing
values: if that gives the same bytes, there is nothing else.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from crypsis.options import ReadOptions
from crypsis.tables.contents._content import Content
from crypsis.tables.formats.arrow_ipc import cleared, validated

_COMPRESSIONS = ("lz4", None, "zstd")


def arrow_contents(path: str, reading: ReadOptions) -> Iterator[Content]:
    """What a file has besides the values of its rows."""
    short = Path(path).name
    hidden = Content(f"bytes:{short}", f"File {short!r} has bytes that belong to no value.")
    try:
        data = Path(path).read_bytes()
        reader = pa.ipc.open_file(pa.BufferReader(data))
        batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        validated(pa.Table.from_batches(batches, reader.schema))
    except (pa.ArrowException, OSError, ValueError):
        yield Content(f"inside:{short}", f"Not all bytes of {short!r} could be inspected.")
        return
    schema = reader.schema
    for key in schema.metadata or ():
        name = key.decode("utf-8", "replace")
        yield Content(f"metadata:{name}", f"The file has metadata under the key {name!r}.")
    for field in schema:
        for key in field.metadata or ():
            name = f"{field.name}:{key.decode('utf-8', 'replace')}"
            yield Content(f"metadata:{name}", f"Column {field.name!r} has metadata.")
    coded = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    for name in coded:
        table = pa.Table.from_batches(batches, schema)
        if any(
            len(pc.unique(chunk.indices).drop_null()) < len(chunk.dictionary) for chunk in table[name].chunks
        ):
            text = f"Column {name!r} has a dictionary with values that no row has."
            yield Content(f"dictionary:{name}", text)
    if not coded and not schema.metadata and not _is_written_anew(data, schema, batches):
        yield hidden
    elif coded or schema.metadata:
        yield Content(f"inside:{short}", f"Not all bytes of {short!r} could be inspected.")


def _is_written_anew(data: bytes, schema: pa.Schema, batches: list[pa.RecordBatch]) -> bool:
    for compression in _COMPRESSIONS:
        out = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.ipc.new_file(out, schema, options=options) as writer:
            for batch in batches:
                writer.write_batch(cleared(batch, schema.names))
        if out.getvalue() == data:
            return True
    return False
