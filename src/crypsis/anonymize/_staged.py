"""Rows with steps applied where they are: expressions column by column, a join for exceptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from crypsis.anonymize._steps import Keep, Step, text_of
from crypsis.engine import Rows
from crypsis.engine.base import Column, Kind
from crypsis.engine.joins import beside_cells

_DROP, _HIT, _ROW = "drop", "hit", "row_number"


def staged(rows: Rows, steps: Mapping[str, Step], removed: Sequence[str] = ()) -> Rows:
    """The same rows after the steps, without the columns removed; nothing is carried out yet."""
    columns = [column for column in rows.columns if column.name not in removed]
    parts, after = [], []
    for column in columns:
        step = steps.get(column.name, Keep())
        cell = nw.col(column.inner)
        if isinstance(step, Keep):
            parts.append(cell)
            after.append(column)
        else:
            parts.append(step.expression(cell, column.kind).alias(column.inner))
            after.append(Column(column.name, step.kind(column.kind), column.inner))
    return Rows(after, lambda: rows.frame.select(*parts), rows.backend)


def with_exceptions(
    rows: Rows,
    names: Sequence[str],
    keys: Sequence[pa.Array],
    told: Sequence[pa.Array],
    dropped: Sequence[bool],
) -> tuple[Rows, Rows]:
    """Rows whose columns `names` hold one of the `keys` are told otherwise, or left out.

    `keys[c][e]` is what exception e holds in column c, `told[c][e]` what it becomes. Also handed
    back: for every row, in order, whether it was left out.
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
        kind = Kind.TEXT if texts[c] else column.kind
        after.append(Column(column.name, kind, column.inner))
    out = nw.when(hit).then(nw.col(_DROP)).otherwise(nw.lit(False))
    if _ROW in numbered.columns:  # a join gives rows back in any order
        joined = joined.sort(_ROW)
    kept = joined.filter(~out).select(*outputs) if any(dropped) else joined.select(*outputs)
    flags = joined.select(out.alias("c0"))
    return (
        Rows(after, lambda: kept, rows.backend),
        Rows([Column("dropped", Kind.BOOLEAN, "c0")], lambda: flags, rows.backend),
    )


def _numbered(rows: Rows) -> nw.LazyFrame[Any]:
    """The rows with their place in the source, where the engine knows one."""
    if rows.backend.name != "duckdb":
        return rows.frame
    native = rows.frame.to_native().project(f"*, row_number() OVER () AS {_ROW}")
    frame: nw.LazyFrame[Any] = nw.from_native(native)
    return frame
