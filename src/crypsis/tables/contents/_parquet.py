"""Parquet files: metadata, columns of some files alone, values of a dictionary that no row has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from crypsis.options import ReadOptions
from crypsis.tables.contents._content import Content
from crypsis.tables.contents._metadata import field_contents, key_content, key_contents, nan_contents
from crypsis.tables.contents._parquet_footer import has_other_bytes

_WRITER_WORDS = frozenset(
    "parquet cpp arrow arrow2 mr rs go net duckdb polars fastparquet python impala trino presto spark photon "
    "databricks snowflake clickhouse velox datafusion cudf hyparquet rapids plugin apache github.com native "
    "rust implementation of compatible writer format version build snapshot unknown n a".split()
)
_NUMBERED = re.compile(r"v?\d[\w.+]*|[0-9a-f]{5,40}")
"""The words, versions and builds by which writers call themselves."""


def parquet_contents(path: str, reading: ReadOptions) -> Iterator[Content]:
    """What is in a file besides the rows of its columns."""
    with pyarrow.parquet.ParquetFile(path, memory_map=True) as file:
        schema = file.schema_arrow
        yield from key_contents(file.metadata.metadata or {}, schema)
        yield from map(key_content, set(schema.metadata or {}) - set(file.metadata.metadata or {}))
        yield from map(key_content, _chunk_keys(file.metadata))
        yield from field_contents(schema)
        if not _is_writer(file.metadata.created_by or ""):
            yield Content("metadata:created_by", "The file says by a text of its own who wrote it.")
        floats = [field.name for field in schema if pa.types.is_floating(field.type)]
        yield from nan_contents(schema, file.iter_batches(columns=floats) if floats else ())
        yield from _dictionaries(path, file)
        if has_other_bytes(path):
            short = Path(path).name
            text = f"File {short!r} has bytes that are in no part that its footer lists."
            yield Content(f"bytes:{short}", text)


def columns_of_some(paths: Sequence[str]) -> Iterator[Content]:
    """Columns that only some of several files have, which are not read."""
    if len(paths) < 2:
        return
    names = [pyarrow.parquet.read_schema(path).names for path in paths]
    for name, count in Counter(name for columns in names for name in set(columns)).items():
        if count < len(paths) or name not in names[0]:
            text = f"Column {name!r} is in {count} of {len(paths)} files."
            yield Content(f"column:{name}", text)


def _chunks(metadata: Any) -> Iterator[Any]:
    """What the footer says of each column of each row group."""
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        yield from (row_group.column(column) for column in range(metadata.num_columns))


def _chunk_keys(metadata: Any) -> set[bytes]:
    return {key for chunk in _chunks(metadata) for key in getattr(chunk, "metadata", None) or ()}


def _is_writer(text: str) -> bool:
    """Whether nothing but the name of a program, its version and its build is said."""
    words = re.split(r"[\s()/,;-]+|\.(?=net\b)", text.lower())
    return all(word in _WRITER_WORDS or _NUMBERED.fullmatch(word) for word in words if word)


def _dictionaries(path: str, file: Any) -> Iterator[Content]:
    """Columns whose dictionary has values that no row has, as files made of categories have them."""
    schema, metadata = file.schema_arrow, file.metadata
    columns = [metadata.schema.column(i) for i in range(metadata.num_columns)]
    texts = [c.name for c in columns if c.physical_type == "BYTE_ARRAY" and c.path in schema.names]
    coded = pyarrow.parquet.ParquetFile(path, read_dictionary=texts, memory_map=True)
    for group in range(metadata.num_row_groups):
        for i, column in enumerate(columns):
            if column.path not in texts or not metadata.row_group(group).column(i).has_dictionary_page:
                continue
            values = coded.read_row_group(group, columns=[column.path]).column(0)
            if pa.types.is_dictionary(values.type) and not _all_used(values):
                text = f"The dictionary of column {column.path!r} has values that no row has."
                yield Content(f"dictionary:{column.path}", text)


def _all_used(column: pa.ChunkedArray) -> bool:
    """Whether each value of a column's dictionaries is in the column."""
    coded = column.unify_dictionaries()
    used = pc.unique(pa.chunked_array([part.indices for part in coded.chunks], coded.chunk(0).indices.type))
    return len(used.drop_null()) == len(coded.chunk(0).dictionary)
