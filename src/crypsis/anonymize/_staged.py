"""Rows with steps applied where they are: expressions column by column, a join for exceptions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis import progress
from crypsis.anonymize._steps import Intervals, Keep, Step, Suppress, Top, text_of
from crypsis.engine import Rows, open_frame
from crypsis.engine.base import Column, Kind
from crypsis.engine.joins import beside_cells

IN_MEMORY_VALUES = 70_000_000
"""Tables with at most so many values are told in memory, in one go."""
_DROP, _HIT, _ROW = "drop", "hit", "row_number"


def staged(rows: Rows, steps: Mapping[str, Step], removed: Sequence[str] = ()) -> Rows:
    """The same rows after the steps, without the columns removed; nothing is carried out yet.

    Crowds are counted with NaN as missing and minus zero as zero. A file would tell them apart, so
    in the columns that have a step they become what they were counted as, also where it is `Keep`.
    """
    columns = [column for column in rows.columns if column.name not in removed]
    kept = [name for name, step in steps.items() if isinstance(step, Keep)]
    numbers = [name for name in kept if rows.column(name).kind is Kind.NUMBER]
    if len(kept) == len(steps) and not numbers:
        return rows.only([column.name for column in columns]) if removed else rows
    if fits_in_memory(rows):
        return _staged_here(rows, steps, [column.name for column in columns])
    schema = rows.frame.collect_schema() if numbers else {}
    parts, after = [], []
    for column in columns:
        step = steps.get(column.name, Keep())
        cell = nw.col(column.inner)
        if isinstance(step, Keep):
            if column.name in numbers and schema[column.inner].is_float():
                whole = (cell + 0.0).cast(schema[column.inner])
                cell = nw.when(~cell.is_nan()).then(whole).alias(column.inner)
            parts.append(cell)
            after.append(column)
        else:
            parts.append(step.expression(cell, column.kind).alias(column.inner))
            after.append(Column(column.name, step.kind(column.kind), column.inner))
    return Rows(after, lambda: rows.frame.select(*parts), rows.backend)


def _clean(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """NaN as missing and minus zero as zero."""
    if not pa.types.is_floating(column.type):
        return column
    whole = pc.add(column, pa.scalar(0.0, column.type))
    return pc.if_else(pc.is_nan(whole), pa.scalar(None, column.type), whole)


def fits_in_memory(rows: Rows) -> bool:
    """Whether the rows are few enough to be told in memory, in one go."""
    if rows.backend.name != "duckdb":
        return False
    return rows.count * len(rows.columns) <= IN_MEMORY_VALUES


def _staged_here(rows: Rows, steps: Mapping[str, Step], names: Sequence[str]) -> Rows:
    """Column by column, on all cores."""
    table = rows.to_arrow(names)

    def column(name: str) -> pa.ChunkedArray:
        step = steps.get(name, Keep())
        if not isinstance(step, Keep):
            return told(table[name], step)
        return _clean(table[name]) if name in steps else table[name]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        columns = list(progress.track(pool.map(column, names), "telling columns", len(names)))
    return open_frame(pa.table(columns, names=list(names)))


def told(column: pa.ChunkedArray, step: Step) -> pa.Array:
    """What a step makes of a column in memory; NaN is missing."""
    values = _clean(column).combine_chunks()
    if isinstance(step, Suppress):
        return pa.nulls(len(values), values.type)
    if isinstance(step, Intervals) and step.upper and values.null_count < len(values):
        numbers = np.asarray(pc.fill_null(values, 0).cast(pa.float64(), safe=False))
        place = np.searchsorted(np.array(step.upper), numbers).astype(np.int32)
        gone = np.asarray(values.is_null()) if values.null_count else None
        return pa.array(step.labels).take(pa.array(place, mask=gone))
    coded = values.dictionary_encode()
    labels = [step.label(value) for value in coded.dictionary.to_pylist()]
    kind = values.type if isinstance(step, Top) else None
    if kind is None and not any(isinstance(label, float) for label in labels):
        kind = pa.string()
    return pa.array(labels, kind).take(coded.indices)


def with_exceptions(
    rows: Rows,
    names: Sequence[str],
    keys: Sequence[pa.Array],
    told: Sequence[pa.Array],
    dropped: Sequence[bool],
) -> tuple[Rows, Rows]:
    """Rows whose columns `names` hold one of the `keys` are told otherwise, or left out.

    `keys[c][e]` is what exception e holds in column c, `told[c][e]` what it becomes. A join gives
    rows back in any order; handed back as well: the same rows sorted.
    """
    texts = [pa.types.is_string(values.type) for values in told]
    added = {f"r{c}": values for c, values in enumerate(told)}
    added[_DROP] = pa.array(list(dropped), pa.bool_())
    added[_HIT] = pa.array([True] * len(dropped), pa.bool_())
    numbered = _numbered(rows)
    joined = beside_cells(rows, numbered, names, keys, added, how="left")
    hit = ~nw.col(_HIT).is_null()
    outputs, after = [], []
    for column in rows.columns:
        if column.name not in names:
            outputs.append(nw.col(column.inner))
            after.append(column)
            continue
        c = list(names).index(column.name)
        own = text_of(nw.col(column.inner), column.kind) if texts[c] else nw.col(column.inner)
        outputs.append(nw.when(hit).then(nw.col(f"r{c}")).otherwise(own).alias(column.inner))
        number = pa.types.is_floating(told[c].type)
        kind = Kind.TEXT if texts[c] else Kind.NUMBER if number else column.kind
        after.append(Column(column.name, kind, column.inner))
    if any(dropped):
        joined = joined.filter(~nw.when(hit).then(nw.col(_DROP)).otherwise(nw.lit(False)))
    in_order = joined.sort(_ROW) if _ROW in numbered.columns else joined
    return (
        Rows(after, lambda: joined.select(*outputs), rows.backend),
        Rows(after, lambda: in_order.select(*outputs), rows.backend),
    )


def _numbered(rows: Rows) -> nw.LazyFrame[Any]:
    """The rows with their place in the source, where the engine knows one."""
    if rows.backend.name != "duckdb":
        return rows.frame
    native = rows.frame.to_native().project(f"*, row_number() OVER () AS {_ROW}")
    frame: nw.LazyFrame[Any] = nw.from_native(native)
    return frame
