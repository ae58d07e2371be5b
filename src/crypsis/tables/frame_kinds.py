"""Frames given back in the kind they came in: index, column labels, categories, types.

A pandas index that has a name, or that is not of integers, is released with the frame, so its levels
are columns like any other, under the names that `reset_index` gives them. An integer index without a
name numbers the rows of the original: it is not read, and the release gets a new one. Of categories
only those remain that a record has. Periods and intervals of pandas, for which Arrow has no types,
are read as their texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.errors import ColumnError


def with_index(frame: Any) -> Any:
    """A pandas frame with its index as columns, where the index is data; others as they are."""
    if not _is_pandas(frame) or not _indexed(frame):
        return frame
    try:
        return frame.reset_index()
    except ValueError:
        raise ColumnError(
            "The index and a column of the frame have the same name.",
            code="repeated-column",
            hint="Give each its own name.",
        ) from None


def with_arrow_types(frame: Any) -> Any:
    """A pandas frame with columns that Arrow can take; others as they are."""
    if not _is_pandas(frame):
        return frame
    import pandas

    changed = frame
    for position, kind in enumerate(frame.dtypes):
        column = frame.iloc[:, position]
        if isinstance(kind, pandas.SparseDtype):
            column = column.sparse.to_dense()
        elif _read_as_text(kind):
            column = column.astype(object).map(str, na_action="ignore")
        else:
            continue
        changed = frame.copy(deep=False) if changed is frame else changed
        changed.isetitem(position, column)
    return changed


def _read_as_text(kind: Any) -> bool:
    import pandas

    values = kind.categories.dtype if isinstance(kind, pandas.CategoricalDtype) else kind
    return isinstance(values, pandas.PeriodDtype | pandas.IntervalDtype)


def _is_pandas(frame: Any) -> bool:
    kind = nw.from_native(frame, pass_through=True)
    return isinstance(kind, nw.DataFrame) and kind.implementation.is_pandas()


def _indexed(frame: Any) -> bool:
    """Whether the index is more than the numbers of the rows."""
    index = frame.index
    if index.nlevels > 1 or index.name is not None:
        return True
    return index.dtype.kind not in "iu"


def as_given(table: pa.Table, frame: Any) -> Any:
    """A table of released columns as a frame of the kind that was given."""
    wrapped = nw.from_native(frame, pass_through=True, allow_series=False)
    if wrapped.implementation.is_pandas():
        return _as_pandas(table, frame)
    if wrapped.implementation.is_polars():
        return _as_polars(table, frame)
    result = nw.from_arrow(table, backend=wrapped.implementation).to_native()
    return _as_arrow(result, frame) if isinstance(result, pa.Table) else result


def _as_pandas(table: pa.Table, frame: Any) -> Any:
    before = with_index(frame)
    places = {str(label): position for position, label in enumerate(before.columns)}
    kinds = {name: before.dtypes.iloc[position] for name, position in places.items()}
    result = nw.from_arrow(table, backend="pandas").to_native()
    for name in result.columns:
        column, kind = result[name], kinds.get(name)
        if kind is not None and _read_as_text(kind):
            column = _from_texts(column, before.iloc[:, places[name]])
        result[name] = _pandas_column(column, table[name], kind)
    levels = before.shape[1] - frame.shape[1]
    kept = [name for name in result.columns if places.get(name, levels) < levels]
    if kept:
        result = result.set_index(kept)
        result.index.names = [frame.index.names[places[name]] for name in kept]
    if all(name in places for name in result.columns):
        result.columns = frame.columns.take([places[name] - levels for name in result.columns])
    return result


def _from_texts(column: Any, before: Any) -> Any:
    """The values of which a column has the texts; as it is where it has other texts."""
    values = {str(value): value for value in before.dropna().unique()}
    return column.map(values) if set(column.dropna()) <= values.keys() else column


def _pandas_column(column: Any, released: pa.ChunkedArray, kind: Any) -> Any:
    """A column in the type it had, where its values still have it."""
    import numpy
    import pandas

    if isinstance(kind, pandas.ArrowDtype):
        changed = _arrow_type(released, pa.chunked_array([], kind.pyarrow_dtype))
        same = changed.type == kind.pyarrow_dtype
        return pandas.Series(pandas.array(changed, kind)) if same else column
    if kind is not None and kind.kind == "m" and pa.types.is_int64(released.type):
        unit, _ = numpy.datetime_data(kind)  # counted in it, see `open_frame`
        return released.cast(pa.duration(unit)).to_pandas()
    if pa.types.is_integer(released.type) and released.null_count:  # not rounded to floats
        column = pandas.Series(pandas.Int64Dtype().__from_arrow__(released.cast(pa.int64())))
    if kind is None or column.dtype == kind:
        return column
    if isinstance(kind, pandas.CategoricalDtype):
        categories, new = _categories(kind.categories, set(column.dropna().unique()))
        ordered = kind.ordered and not new
        return column.astype(pandas.CategoricalDtype([*categories, *new], ordered=ordered))
    try:
        changed = column.astype(kind)
        present = column.notna()
        same = (changed.notna().to_numpy() == present.to_numpy()).all() and (
            changed[present] == column[present]
        ).all()
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        return column
    return changed if same else column


def _categories(categories: Sequence[Any], present: set[Any]) -> tuple[list[Any], list[Any]]:
    """The categories that occur, in their order; the labels that are new."""
    old = [value for value in categories if value in present]
    return old, sorted(present.difference(old), key=str)


def _as_polars(table: pa.Table, released_from: Any) -> Any:
    import polars

    lazy = isinstance(released_from, polars.LazyFrame)
    result = nw.from_arrow(table, backend="polars").to_native()
    before = released_from.collect_schema()
    columns = [
        _polars_type(result[name], before[name]) if name in before else result[name]
        for name in result.columns
    ]
    frame = polars.DataFrame(columns)
    return frame.lazy() if lazy else frame


def _polars_type(column: Any, kind: Any) -> Any:
    import polars

    if isinstance(kind, polars.Enum):
        categories, new = _categories(kind.categories, set(column.drop_nulls().unique()))
        return column.cast(polars.Categorical if new else polars.Enum(categories))
    try:
        changed = column.cast(kind)
        same = changed.cast(column.dtype).equals(column)
    except polars.exceptions.PolarsError:
        return column
    return changed if same else column


def _as_arrow(table: pa.Table, frame: pa.Table) -> pa.Table:
    for position, name in enumerate(table.column_names):
        if name in frame.column_names:
            column = _arrow_type(table.column(position), frame.column(name))
            table = table.set_column(position, name, column)
    return table


def _arrow_categories(column: pa.ChunkedArray, before: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values as the categories that they were, in their order."""
    kind, chunks = before.type, before.unify_dictionaries().chunks
    listed = chunks[0].dictionary.to_pylist() if chunks else []
    kept_categories, new = _categories(listed, set(column.drop_null().unique().to_pylist()))
    categories = pa.array([*kept_categories, *new], kind.value_type)
    indices = pc.index_in(column.combine_chunks(), categories).cast(kind.index_type)
    ordered = kind.ordered and not new
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, categories, ordered=ordered)])


def _arrow_type(column: pa.ChunkedArray, before: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = before.type
    if column.type == kind:
        return column
    try:
        if pa.types.is_dictionary(kind):
            return _arrow_categories(column.cast(kind.value_type), before)
        changed = column.cast(kind)
        same = pc.all(pc.equal(changed.cast(column.type), column)).as_py() is not False
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column
    return changed if same else column
