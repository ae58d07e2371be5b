"""Parquet files: metadata, columns of some files alone, values of a dictionary that no row has."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from crypsis.counting.arrays import numbers
from crypsis.tables.contents._content import Content
from crypsis.tables.contents._parquet_bytes import ParquetLayoutError, has_other_bytes

_HARMLESS_KEYS = (
    b"ARROW:schema",
    b"org.apache.spark.version",
    b"org.apache.spark.timeZone",
    b"org.apache.spark.sql.parquet.row.metadata",
    b"writer.time.zone",
)
"""Keys under which writers put the types of the columns and their own version."""
_PANDAS_PARTS = frozenset(
    "index_columns column_indexes columns attributes creator pandas_version partition_columns".split()
)
_PANDAS_COLUMN = frozenset("name field_name pandas_type numpy_type metadata".split())
_PANDAS_DETAILS = frozenset("num_categories ordered timezone encoding precision scale".split())
_FIELD_KEYS = (b"PARQUET:field_id",)
_WRITER_WORDS = frozenset(
    "parquet cpp arrow arrow2 mr rs go net duckdb polars fastparquet python impala trino presto spark photon "
    "databricks snowflake clickhouse velox datafusion cudf hyparquet rapids plugin apache github.com native "
    "rust implementation of compatible writer format version build snapshot unknown n a".split()
)
_NUMBERED = re.compile(r"v?\d[\w.+]*|[0-9a-f]{5,40}")
"""The words, versions and builds by which writers call themselves."""


def parquet_contents(paths: Sequence[str]) -> Iterator[Content]:
    """What is in the files besides the rows of the columns they all have."""
    files: dict[str, Any] = {}
    for path in paths:
        short = Path(path).name
        try:
            files[path] = pyarrow.parquet.ParquetFile(path, memory_map=True)
            yield from _metadata(files[path])
            yield from _dictionaries(path, files[path])
            yield from _not_numbers(files[path])
            if has_other_bytes(path):
                text = f"File {short!r} has bytes that are in no page and not in its footer."
                yield Content(f"bytes:{short}", text)
        except (pa.ArrowException, OSError, ValueError, KeyError, ParquetLayoutError):
            yield Content(f"inside:{short}", f"The metadata of {short!r} could not be inspected.")
    yield from _columns_of_some(files)


def _columns_of_some(files: Mapping[str, Any]) -> Iterator[Content]:
    """Columns that only some of the files have, which are not read."""
    counter = Counter(name for file in files.values() for name in set(file.schema_arrow.names))
    first = set(next(iter(files.values())).schema_arrow.names) if files else set()
    for name, count in counter.items():
        if count < len(files) or name not in first:
            text = f"Column {name!r} is in {count} of {len(files)} files."
            yield Content(f"column:{name}", text)


def _metadata(file: Any) -> Iterator[Content]:
    names = set(file.schema_arrow.names)
    for key, value in (file.metadata.metadata or {}).items():
        if key in _HARMLESS_KEYS or (key == b"pandas" and _only_types(value, names)):
            continue
        yield _entry(key)
    if not _is_writer(file.metadata.created_by or ""):
        yield Content("metadata:created_by", "The file says by a text of its own who wrote it.")
    for key in _arrow_keys(file):
        yield _entry(key)
    for group in range(file.metadata.num_row_groups):
        for column in range(file.metadata.num_columns):
            for key in getattr(file.metadata.row_group(group).column(column), "metadata", None) or ():
                yield _entry(key)
    for field in _fields(file.schema_arrow):
        for key in field.metadata or ():
            if key not in _FIELD_KEYS:
                text = f"A column has metadata under the key {_text(key)!r}."
                yield Content(f"metadata:{_text(key)}", text)


def _is_writer(text: str) -> bool:
    """Whether nothing but the name of a program, its version and its build is said."""
    words = re.split(r"[\s()/,;-]+|\.(?=net\b)", text.lower())
    return all(word in _WRITER_WORDS or _NUMBERED.fullmatch(word) for word in words if word)


def _arrow_keys(file: Any) -> Iterator[bytes]:
    """Keys in the Arrow schema, which is itself an entry of the metadata."""
    known = file.metadata.metadata or {}
    for key in file.schema_arrow.metadata or {}:
        if key not in known:
            yield key


def _entry(key: bytes) -> Content:
    name = _text(key)
    return Content(f"metadata:{name}", f"The metadata of the file has the key {name!r}.")


def _text(key: bytes | str) -> str:
    return key if isinstance(key, str) else key.decode("utf-8", "replace")


def _fields(schema: pa.Schema | pa.DataType) -> Iterator[pa.Field]:
    for i in range(len(schema) if isinstance(schema, pa.Schema) else schema.num_fields):
        field = schema.field(i)
        yield field
        if pa.types.is_nested(field.type):
            yield from _fields(field.type)


def _only_types(value: bytes, names: set[str]) -> bool:
    """Whether the entry of pandas has types and the names of columns alone, and no values."""
    try:
        entry = json.loads(value)
        index = [one for one in entry.get("index_columns", ()) if not _plain_range(one)]
        described = [*entry.get("columns", ()), *entry.get("column_indexes", ())]
        return (
            set(entry) <= _PANDAS_PARTS
            and not entry.get("attributes")
            and not entry.get("partition_columns")
            and set(entry.get("creator") or {}) <= {"library", "version"}
            and all(isinstance(one, str) and one in names for one in index)
            and all(_plain_column(one, names) for one in described)
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        return False


def _plain_range(one: Any) -> bool:
    return (
        isinstance(one, dict)
        and one.get("kind") == "range"
        and one.get("name") is None
        and set(one) <= {"kind", "name", "start", "stop", "step"}
        and all(isinstance(one.get(part, 0), int) for part in ("start", "stop", "step"))
    )


def _plain_column(one: Mapping[str, Any], names: set[str]) -> bool:
    texts = {one.get("name"), one.get("field_name")} - {None}
    return (
        set(one) <= _PANDAS_COLUMN
        and texts <= names | {"None"}
        and set(one.get("metadata") or {}) <= _PANDAS_DETAILS
    )


def _dictionaries(path: str, file: Any) -> Iterator[Content]:
    """Values in dictionaries that no row has, as files made of categories have them."""
    schema, metadata = file.schema_arrow, file.metadata
    texts = [
        metadata.schema.column(i).name
        for i in range(metadata.num_columns)
        if metadata.schema.column(i).physical_type == "BYTE_ARRAY"
        and metadata.schema.column(i).path in schema.names
    ]
    if not texts:
        return
    coded = pyarrow.parquet.ParquetFile(path, read_dictionary=texts, memory_map=True)
    for group in range(metadata.num_row_groups):
        for i in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(i)
            name = chunk.path_in_schema
            if name not in texts or not chunk.has_dictionary_page:
                continue
            column = coded.read_row_group(group, columns=[name]).column(0)
            if not pa.types.is_dictionary(column.type):
                continue
            for part in column.chunks:
                if not _all_used(column, part.dictionary):
                    text = f"The dictionary of column {name!r} has values that no row has."
                    yield Content(f"dictionary:{name}", text)


def _not_numbers(file: Any) -> Iterator[Content]:
    """Columns in which what is not a number (NaN) has more than one pattern of bits."""
    names = [field.name for field in file.schema_arrow if pa.types.is_floating(field.type)]
    patterns: dict[str, set[int]] = {name: set() for name in names}
    for batch in file.iter_batches(columns=names) if names else ():
        for name in names:
            values = batch.column(batch.schema.get_field_index(name)).drop_null()
            rest = numbers(values.filter(pc.is_nan(values)))
            patterns[name] |= set(np.unique(rest.view(f"u{rest.dtype.itemsize}")).tolist())
    for name, pattern in patterns.items():
        if len(pattern) > 1:
            text = f"Column {name!r} has NaN in {len(pattern)} patterns of bits."
            yield Content(f"spelling:{name}", text)


def _all_used(column: pa.ChunkedArray, dictionary: pa.Array) -> bool:
    """Whether each value of a dictionary is in the column; pages share the dictionary."""
    used = pc.unique(pa.chunked_array([part.indices for part in column.chunks]))
    return len(used.drop_null()) >= len(dictionary) or _values(column) >= len(dictionary)


def _values(column: pa.ChunkedArray) -> int:
    """The number of distinct values, where the parts have dictionaries of their own."""
    parts = {id(part.dictionary) for part in column.chunks}
    return len(pc.unique(column.cast(column.type.value_type)).drop_null()) if len(parts) > 1 else 0
