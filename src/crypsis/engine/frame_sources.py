"""From frames of other libraries to `Rows`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa
from narwhals.exceptions import DuplicateError

from crypsis.engine import duck, memory
from crypsis.engine.base import columns_of
from crypsis.engine.duck import DuckBackend, inner_names, quote
from crypsis.engine.each_column import each_column
from crypsis.engine.frames import Rows
from crypsis.engine.layout import unique_names
from crypsis.engine.sources import plain_columns, rows_of
from crypsis.errors import ColumnError, InputError


def open_frame(
    frame: Any, *, memory_limit: str | None = None, spill_folder: str | Path | None = None
) -> Rows:
    """Take a pandas, Polars, Arrow, DuckDB, Spark or Ibis frame as it is, or an Arrow dataset."""
    settings = {"memory_limit": memory_limit, "spill_folder": spill_folder}
    if is_dataset(frame):
        return _dataset(frame, settings)
    try:
        known = nw.from_native(frame, pass_through=False)
    except DuplicateError:
        raise ColumnError(
            "More than one column of the frame has the same name. Give each its own name."
        ) from None
    except TypeError:
        raise InputError(
            f"A {type(frame).__name__} is not a frame; give pandas, Polars, Arrow (a table or a "
            "dataset), DuckDB, Spark or Ibis."
        ) from None
    names = unique_names(_names_of(known))
    if not names:
        raise InputError("The frame has no columns.")
    if known.implementation.is_pyspark() or known.implementation.is_pyspark_connect():
        from crypsis.engine.spark_sources import spark_rows

        return spark_rows(frame, names)
    if known.implementation.is_duckdb():
        pairs = zip(frame.columns, inner_names(len(names)), strict=True)
        renamed = frame.project(", ".join(f"{quote(a)} AS {b}" for a, b in pairs))
        lazy = nw.from_native(renamed.project(", ".join(plain_columns(renamed, ()))))
        return Rows(columns_of(lazy, names), lambda: lazy, DuckBackend())
    table = _arrow(known)
    try:
        each_column(lambda column: column.validate(full=True), table.columns)
    except pa.ArrowInvalid:
        raise InputError("The Arrow table contradicts itself; make it anew.") from None
    simple = memory.plain(table) if memory_limit is None and spill_folder is None else None
    if simple is not None:
        return memory.TableRows(simple, names)
    connection = duck.connect(**settings)  # type: ignore[arg-type]
    with duck.translated("taking the frame"):
        connection.register("source", table.rename_columns(inner_names(len(names))))
    return rows_of(connection, "SELECT * FROM source", names, (), known=table.num_rows)


def is_dataset(frame: Any) -> bool:
    """Whether it is a dataset of Arrow, which is read anew for every question."""
    loaded = sys.modules.get("pyarrow.dataset")
    return loaded is not None and isinstance(frame, loaded.Dataset)


def _dataset(dataset: Any, settings: dict[str, Any]) -> Rows:
    """Read in a stream by DuckDB, and of its columns those that are asked about."""
    names = list(dataset.schema.names)
    if not names:
        raise InputError("The dataset has no columns.")
    connection = duck.connect(**settings)
    with duck.translated("opening the dataset"):
        connection.register("source", dataset)
    form = getattr(getattr(dataset, "format", None), "default_extname", "")
    known = dataset.count_rows() if form == "parquet" else None  # by the footers
    return rows_of(connection, "SELECT * FROM source", names, (), known=known)


def _names_of(known: Any) -> list[str]:
    if isinstance(known, nw.DataFrame):
        return [str(name) for name in known.columns]
    try:
        return [str(name) for name in known.collect_schema().names()]
    except Exception as error:  # noqa: BLE001 - of as many kinds as there are kinds of frames
        raise InputError(f"The frame cannot be collected ({type(error).__name__}).") from None


def _arrow(known: Any) -> pa.Table:
    """An eager or lazy frame on this machine as an Arrow table, categories as their values."""
    try:
        eager = known if isinstance(known, nw.DataFrame) else known.collect(backend="pyarrow")
        table = eager.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        column = (
            str(error).rsplit("column ", 1)[-1].split(" ")[0] if "column " in str(error) else ""
        )
        raise InputError(
            f"The column {column} mixes types that do not go together; make it one type, such as "
            "text."
        ) from None
    except Exception as error:  # noqa: BLE001 - of as many kinds as there are kinds of frames
        raise InputError(
            f"The frame cannot be turned into Arrow ({type(error).__name__}). Check that it can be "
            "collected, and that its columns are numbers, texts, dates or times."
        ) from None
    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = table.column(i).cast(field.type.value_type)
            table = table.set_column(i, field.name, plain)
        elif pa.types.is_null(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.string()))
        elif pa.types.is_float16(field.type):  # which DuckDB does not know
            table = table.set_column(i, field.name, table.column(i).cast(pa.float32()))
    if "__index_level_0__" in table.column_names:
        table = table.drop_columns(["__index_level_0__"])
    return table.replace_schema_metadata(None)
