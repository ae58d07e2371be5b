"""The metadata of Parquet and Arrow files: keys of known writers, and what they may say."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.counting.arrays import numbers
from crypsis.tables.contents._content import Content

_VERSIONS = (
    b"org.apache.spark.version",
    b"org.apache.spark.timeZone",
    b"org.apache.spark.legacyDateTime",
    b"org.apache.spark.legacyINT96",
    b"writer.time.zone",
)
"""Keys under which writers put their own version and settings."""
_MAX_SETTING_BYTES = 64
"""The most bytes of a version, a time zone or a setting."""
_PANDAS = b"pandas"
_ARROW = b"ARROW:schema"
_SPARK = b"org.apache.spark.sql.parquet.row.metadata"
_PANDAS_PARTS = frozenset(
    "index_columns column_indexes columns attributes creator pandas_version partition_columns".split()
)
_PANDAS_COLUMN = frozenset("name field_name pandas_type numpy_type metadata".split())
_PANDAS_DETAILS = frozenset("num_categories ordered timezone encoding precision scale".split())
_SPARK_TYPES = frozenset("type fields elementType containsNull keyType valueType valueContainsNull".split())
_SPARK_FIELD = frozenset("name type nullable metadata".split())
_FIELD_KEYS = (b"PARQUET:field_id",)


def key_contents(metadata: Mapping[bytes, bytes], schema: pa.Schema) -> Iterator[Content]:
    """The keys of a file that are not those of a known writer, or say more than names and types."""
    for key, value in metadata.items():
        if not _says_only_types(key, value, schema):
            yield key_content(key)


def key_content(key: bytes | str) -> Content:
    """A key of the metadata."""
    name = _text(key)
    return Content(f"metadata:{name}", f"The metadata of the file has the key {name!r}.")


def field_contents(schema: pa.Schema) -> Iterator[Content]:
    """The keys of columns."""
    for field in _fields(schema):
        for key in field.metadata or ():
            if key not in _FIELD_KEYS:
                text = f"A column has metadata under the key {_text(key)!r}."
                yield Content(f"metadata:{_text(key)}", text)


def nan_contents(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[Content]:
    """Columns in which what is not a number (NaN) has more than one pattern of bits."""
    names = [field.name for field in schema if pa.types.is_floating(field.type)]
    patterns: dict[str, set[int]] = {name: set() for name in names}
    for batch in batches if names else ():
        for name in names:
            values = batch.column(batch.schema.get_field_index(name)).drop_null()
            rest = numbers(values.filter(pc.is_nan(values)))
            patterns[name] |= set(np.unique(rest.view(f"u{rest.dtype.itemsize}")).tolist())
    for name, pattern in patterns.items():
        if len(pattern) > 1:
            text = f"Column {name!r} has NaN in {len(pattern)} patterns of bits."
            yield Content(f"spelling:{name}", text)


def _text(key: bytes | str) -> str:
    return key if isinstance(key, str) else key.decode("utf-8", "replace")


def _fields(schema: pa.Schema | pa.DataType) -> Iterator[pa.Field]:
    for i in range(len(schema) if isinstance(schema, pa.Schema) else schema.num_fields):
        field = schema.field(i)
        yield field
        if pa.types.is_nested(field.type):
            yield from _fields(field.type)


def _says_only_types(key: bytes, value: bytes, schema: pa.Schema) -> bool:
    """Whether an entry has types and the names of the columns alone, or a version."""
    names = set(schema.names)
    try:
        if key == _ARROW:
            return set(pa.ipc.read_schema(pa.py_buffer(base64.b64decode(value))).names) <= names
        if key == _PANDAS:
            return _is_plain_pandas(json.loads(value), names)
        if key == _SPARK:
            entry = json.loads(value)
            return _is_plain_spark(entry) and {field["name"] for field in entry["fields"]} <= names
    except (pa.ArrowException, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False
    return key in _VERSIONS and len(value) <= _MAX_SETTING_BYTES


def _is_plain_pandas(entry: Any, names: set[str]) -> bool:
    index = [part for part in entry.get("index_columns", ()) if not _is_plain_range(part)]
    described = [*entry.get("columns", ()), *entry.get("column_indexes", ())]
    return (
        set(entry) <= _PANDAS_PARTS
        and not entry.get("attributes")
        and not entry.get("partition_columns")
        and set(entry.get("creator") or {}) <= {"library", "version"}
        and all(isinstance(part, str) and part in names for part in index)
        and all(_is_plain_column(column, names) for column in described)
    )


def _is_plain_range(index: Any) -> bool:
    return (
        isinstance(index, dict)
        and index.get("kind") == "range"
        and index.get("name") is None
        and set(index) <= {"kind", "name", "start", "stop", "step"}
        and all(isinstance(index.get(part, 0), int) for part in ("start", "stop", "step"))
    )


def _is_plain_column(column: Mapping[str, Any], names: set[str]) -> bool:
    texts = {column.get("name"), column.get("field_name")} - {None}
    return (
        set(column) <= _PANDAS_COLUMN
        and texts <= names | {"None"}
        and set(column.get("metadata") or {}) <= _PANDAS_DETAILS
    )


def _is_plain_spark(kind: Any) -> bool:
    """Whether a type of Spark has no metadata of columns, such as the categories of an index."""
    if isinstance(kind, str):
        return True
    inner = [kind[part] for part in ("elementType", "keyType", "valueType") if part in kind]
    fields = kind.get("fields", ())
    return (
        set(kind) <= _SPARK_TYPES
        and all(set(field) <= _SPARK_FIELD and not field.get("metadata") for field in fields)
        and all(map(_is_plain_spark, [*inner, *(field["type"] for field in fields)]))
    )
