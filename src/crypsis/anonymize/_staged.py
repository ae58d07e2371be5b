"""Rows with steps applied where they are: expressions column by column, a join for exceptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from crypsis.anonymize._steps import Keep, Step, text_of
from crypsis.engine import Rows
from crypsis.engine.base import Column, Kind
from crypsis.engine.duck import literal

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
    back: for every row, in order, whether it was left out. A missing value cannot be joined on, so
    each key goes with a flag that says whether it is missing.
    """
    columns = [rows.column(name) for name in names]
    texts = [pa.types.is_string(values.type) for values in told]
    table, fills = {}, []
    for c, (key, values) in enumerate(zip(keys, told, strict=True)):
        there = key.drop_null()
        fill = there[0].as_py() if len(there) else None
        fills.append(fill)
        table[f"k{c}"] = key if fill is None else key.fill_null(pa.scalar(fill, key.type))
        table[f"m{c}"] = key.is_null()
        table[f"r{c}"] = values
    table[_DROP] = pa.array(list(dropped), pa.bool_())
    table[_HIT] = pa.array([True] * len(dropped), pa.bool_())
    beside = beside_rows(rows, pa.table(table))
    left, right, exprs = [], [], []
    for c, (column, fill) in enumerate(zip(columns, fills, strict=True)):
        cell = _clean(column, rows)
        exprs.append(cell.is_null().alias(f"jm{c}"))
        left.append(f"jm{c}")
        right.append(f"m{c}")
        if fill is not None:
            exprs.append(nw.when(cell.is_null()).then(nw.lit(fill)).otherwise(cell).alias(f"jk{c}"))
            left.append(f"jk{c}")
            right.append(f"k{c}")
    numbered = _numbered(rows)
    joined = numbered.with_columns(*exprs).join(beside, left_on=left, right_on=right, how="left")
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


def _clean(column: Column, rows: Rows) -> nw.Expr:
    cell = nw.col(column.inner)
    if column.kind is Kind.NUMBER and rows.frame.collect_schema()[column.inner].is_float():
        return nw.when(~cell.is_nan()).then(cell)
    return cell


def beside_rows(rows: Rows, table: pa.Table) -> nw.LazyFrame[Any]:
    """A small Arrow table as a frame of the engine the rows live in."""
    native = rows.frame.to_native()
    if rows.backend.name == "spark":
        found = native.sparkSession.createDataFrame(table)
    elif (connection := getattr(rows.backend, "connection", None)) is not None:
        found = connection.from_arrow(table)
    else:
        found = _by_query(native, table)
    frame: nw.LazyFrame[Any] = nw.from_native(found)
    return frame


def _by_query(native: Any, table: pa.Table) -> Any:
    """A relation the user brought keeps its connection to itself; it runs SQL on it for us."""
    parts = []
    for name, kind in zip(table.column_names, _sql_types(table), strict=True):
        values = ", ".join(
            "NULL" if v is None else literal(str(v)) for v in table[name].to_pylist()
        )
        parts.append(f"CAST(unnest([{values}]) AS {kind}) AS {name}")
    return native.query("crypsis_rows", f"SELECT {', '.join(parts)}")


def _sql_types(table: pa.Table) -> list[str]:
    import duckdb

    return [str(kind) for kind in duckdb.from_arrow(table.slice(0, 0)).types]
