"""From frames of other libraries to `Rows`."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa
from narwhals.exceptions import DuplicateError

from crypsis.errors import ColumnError, InputError
from crypsis.tables.arrow import TableRows, plain
from crypsis.tables.duckdb.backend import DuckBackend
from crypsis.tables.duckdb.connection import connect, open_relation, plain_frame, translated
from crypsis.tables.forms import FileForm
from crypsis.tables.frame_kinds import as_given, with_arrow_types, with_index
from crypsis.tables.parallel import each_column
from crypsis.tables.rows import Rows
from crypsis.tables.schema import Kind, columns_of, inner_names, unique_names
from crypsis.tables.sql import quote
from crypsis.tables.time_types import duration_columns, engine_types, time_types
from crypsis.tables.values import notation, several_notations


def open_frame(
    frame: Any, *, memory_limit: str | None = None, spill_folder: str | Path | None = None
) -> Rows:
    """Open a pandas, Polars, Arrow, DuckDB, Spark or Ibis frame, or an Arrow dataset."""
    settings = {"memory_limit": memory_limit, "spill_folder": spill_folder}
    if is_dataset(frame):
        return _dataset(frame, settings)
    try:
        wrapped = nw.from_native(with_arrow_types(with_index(frame)), pass_through=False)
    except DuplicateError:
        raise ColumnError(
            "More than one column of the frame has the same name.",
            code="repeated-column",
            hint="Give each column its own name.",
        ) from None
    except TypeError:
        raise InputError(
            f"A {type(frame).__name__} is not a frame.",
            code="not-a-frame",
            hint="Use a pandas, Polars, Arrow, DuckDB, Spark or Ibis frame, or an Arrow dataset.",
        ) from None
    names = unique_names(_names_of(wrapped))
    if not names:
        raise InputError("The frame has no columns.")
    if wrapped.implementation.is_pyspark() or wrapped.implementation.is_pyspark_connect():
        from crypsis.tables.spark.sources import spark_rows

        return with_notations(spark_rows(frame, names))
    if wrapped.implementation.is_duckdb():
        pairs = zip(frame.columns, inner_names(len(names)), strict=True)
        renamed = frame.project(", ".join(f"{quote(a)} AS {b}" for a, b in pairs))
        lazy = plain_frame(renamed)
        return with_notations(Rows(columns_of(lazy, names), lambda: lazy, DuckBackend()))
    arrow_table = _arrow(wrapped)
    try:
        each_column(lambda column: column.validate(full=True), arrow_table.columns)
    except pa.ArrowInvalid:
        raise InputError("The Arrow table is not valid.", hint="Create it again.") from None
    times = time_types(arrow_table.rename_columns(names).schema)
    table = pa.table(each_column(engine_types, arrow_table.columns), names=arrow_table.column_names)
    simple = plain(table) if memory_limit is None and spill_folder is None else None
    if simple is not None:
        rows: Rows = TableRows(simple, names, durations=duration_columns(times))
    else:
        rows = _registered(table, names, settings, table.num_rows, duration_columns(times))
    rows.form = FileForm("frame", times=times)
    several = [i for i, column in enumerate(table.columns) if several_notations(column)]
    if several:
        named = table.rename_columns(names)
        rows.notations = [names[i] for i in several]
        rows.finer = dict.fromkeys(rows.notations, True)
        rows.written = lambda chosen: open_frame(
            _as_texts(named, [name for name in rows.notations or () if name in chosen]),
            memory_limit=memory_limit,
            spill_folder=spill_folder,
        )
    return rows


def _as_texts(table: pa.Table, names: list[str]) -> pa.Table:
    """The table with some columns as the texts that a file has."""
    for name in names:
        texts = notation(table[name])
        table = table.set_column(table.column_names.index(name), name, texts)
    return table


def _registered(
    source: Any,
    names: list[str],
    settings: dict[str, Any],
    row_count: int | None,
    durations: Collection[str] = (),
) -> Rows:
    """An Arrow table or dataset that DuckDB scans."""
    connection = connect(**settings)
    with translated("opening the frame"):
        if isinstance(source, pa.Table):
            source = source.rename_columns(inner_names(len(names)))
        connection.register("source", source)
    lazy = open_relation(connection, "SELECT * FROM source", len(names))
    columns = columns_of(lazy, names, durations)
    return Rows(columns, lambda: lazy, DuckBackend(connection), row_count)


def is_dataset(frame: Any) -> bool:
    """Whether it is an Arrow dataset, which is read again for every question."""
    loaded = sys.modules.get("pyarrow.dataset")
    return loaded is not None and isinstance(frame, loaded.Dataset)


def _dataset(dataset: Any, settings: dict[str, Any]) -> Rows:
    """Scanned by DuckDB in a stream, and of its columns those that are needed."""
    names = list(dataset.schema.names)
    if not names:
        raise InputError("The dataset has no columns.")
    form = getattr(getattr(dataset, "format", None), "default_extname", "")
    row_count = dataset.count_rows() if form == "parquet" else None  # by the footers
    return with_notations(_registered(dataset, unique_names(names), settings, row_count))


def with_notations(rows: Rows) -> Rows:
    """Rows of an engine that show the notations of their floating-point numbers, if asked."""
    inner = {column.name: column.inner for column in rows.columns if column.kind is Kind.NUMBER}
    if inner:
        rows.notations = tuple(inner)
        rows.written = lambda chosen: rows.with_texts(
            {name: _engine_text(inner[name]) for name in chosen if name in inner}
        )
    return rows


def _engine_text(inner: str) -> nw.Expr:
    """A number as an engine writes it; Spark writes NaN, DuckDB nan."""
    return nw.col(inner).cast(nw.String).str.replace_all("NaN", "nan", literal=True)


def _names_of(frame: Any) -> list[str]:
    if isinstance(frame, nw.DataFrame):
        return [str(name) for name in frame.columns]
    try:
        return [str(name) for name in frame.collect_schema().names()]
    except Exception as error:  # noqa: BLE001 - of as many kinds as there are kinds of frames
        raise InputError(f"The frame could not be collected ({type(error).__name__}).") from None


def _arrow(frame: Any) -> pa.Table:
    """An eager or lazy frame on this machine as an Arrow table, with its own types."""
    try:
        eager = frame if isinstance(frame, nw.DataFrame) else frame.collect(backend="pyarrow")
        table = eager.to_arrow()
    except Exception as error:  # noqa: BLE001 - of as many kinds as there are kinds of frames
        raise _not_arrow(frame, error) from None
    width = len(frame.columns) if isinstance(frame, nw.DataFrame) else table.num_columns
    # The index of a pandas frame comes last; a column may have the name that it would get.
    return table.select(range(width)).replace_schema_metadata(None)


def _not_arrow(frame: Any, error: Exception) -> InputError:
    """Why a frame could not be converted: the first column that cannot be, if it is one."""
    for name in frame.columns if isinstance(frame, nw.DataFrame) else ():
        try:
            frame.select(name).to_arrow()
        except Exception:  # noqa: BLE001 - as above
            return InputError(
                f"Column {str(name)!r} has values of several types, or of a type that Arrow does not have.",
                code="mixed-types",
                hint="Convert it to one type, such as text.",
            )
    return InputError(
        f"The frame could not be converted to Arrow ({type(error).__name__}).",
        hint="Check that it can be collected, and that its columns are numbers, texts, dates or times.",
    )


def frame_like(rows: Rows, frame: Any) -> Any:
    """Rows as a frame of the kind that was given; without one, the engine's own frame."""
    if frame is None or not rows.local:
        return rows.named_frame()
    kind = nw.from_native(frame, pass_through=True, allow_series=False)
    polars = isinstance(kind, nw.LazyFrame) and kind.implementation.is_polars()
    if not isinstance(kind, nw.DataFrame) and not polars:
        return rows.named_frame()
    return as_given(rows.to_arrow(), frame)
