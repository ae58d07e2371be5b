"""Rows joined with a small table of cells: which row is in which, missing values being equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import narwhals.stable.v2 as nw
import pyarrow as pa

from crypsis.tables.backend import Frame
from crypsis.tables.rows import Rows
from crypsis.tables.schema import Column, Kind


def join_cells(
    rows: Rows,
    frame: Frame,
    names: Sequence[str],
    keys: Sequence[pa.Array],
    added: Mapping[str, pa.Array],
    *,
    how: Literal["inner", "left"],
) -> Frame:
    """`frame`, which has the columns `names` of `rows`, with what is `added` for each cell.

    `keys[c][e]` is the value of cell e in column c. A missing value cannot be joined on, so each
    key goes with a flag that marks it as missing.
    """
    table: dict[str, pa.Array] = {}
    left, right, parts = [], [], []
    for c, (name, key) in enumerate(zip(names, keys, strict=True)):
        present = key.drop_null()
        fill = present[0].as_py() if len(present) else None
        cell = rows.cell(rows.column(name).inner)
        parts.append(cell.is_null().alias(f"jm{c}"))
        table[f"m{c}"] = key.is_null()
        left.append(f"jm{c}")
        right.append(f"m{c}")
        if fill is not None:
            table[f"k{c}"] = key.fill_null(pa.scalar(fill, key.type))
            parts.append(nw.when(cell.is_null()).then(nw.lit(fill)).otherwise(cell).alias(f"jk{c}"))
            left.append(f"jk{c}")
            right.append(f"k{c}")
    small = rows.backend.small_table(rows.frame, pa.table({**table, **added}))
    return frame.with_columns(*parts).join(small, left_on=left, right_on=right, how=how)


def rows_in_cells(
    rows: Rows, names: Sequence[str], keys: Sequence[pa.Array], added: Mapping[str, pa.Array]
) -> Rows:
    """The rows that are in one of the cells, with what is `added` for it first."""
    joined = join_cells(rows, rows.frame, names, keys, added, how="inner")
    columns = [*(Column(name, Kind.NUMBER, name) for name in added), *rows.columns]
    picked = joined.select(*(column.inner for column in columns))
    return rows.derive(columns, lambda _: picked)


def with_ends(rows: Rows, unit: str, order: Sequence[str], first: str, last: str) -> Rows:
    """The rows with two more columns: whether one is the `first`, or the `last`, of its unit.

    They are ordered by the columns `order`, one after the other; a missing value comes last.
    """
    (unit_column,) = rows.comparable([unit])
    inner = rows.comparable(order)
    flags = [rows.cell(name).is_null().alias(f"em{i}") for i, name in enumerate(inner)]
    cells = [rows.cell(name).alias(f"ev{i}") for i, name in enumerate(inner)]
    by = [part for i in range(len(inner)) for part in (f"em{i}", f"ev{i}")]
    marker = nw.lit(1).cast(nw.Int64).alias("e1")
    frame = rows.frame.with_columns(*flags, *cells, marker, rows.cell(unit_column).alias("eu"))
    frame = frame.with_columns(nw.col("e1").cum_sum().over("eu", order_by=by).alias("en"))
    frame = frame.with_columns(nw.col("en").max().over("eu").alias("ez"))
    ends = [(nw.col("en") == 1).alias(first), (nw.col("en") == nw.col("ez")).alias(last)]
    picked = frame.with_columns(*ends).select(*(column.inner for column in rows.columns), first, last)
    columns = [*rows.columns, *(Column(name, Kind.BOOLEAN, name) for name in (first, last))]
    return rows.derive(columns, lambda _: picked)
