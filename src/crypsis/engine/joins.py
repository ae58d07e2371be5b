"""Rows beside a small table of cells: which row is in which, missing values being alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa

from crypsis.engine.base import Column, Kind

if TYPE_CHECKING:
    from crypsis.engine.frames import Rows


def beside_cells(
    rows: Rows,
    frame: nw.LazyFrame[Any],
    names: Sequence[str],
    keys: Sequence[pa.Array],
    added: Mapping[str, pa.Array],
    *,
    how: Literal["inner", "left"],
) -> nw.LazyFrame[Any]:
    """`frame`, which holds the columns `names` of `rows`, with what is `added` for each cell.

    `keys[c][e]` is what cell e holds in column c. A missing value cannot be joined on, so each key
    goes with a flag that says whether it is missing.
    """
    table: dict[str, pa.Array] = {}
    left, right, parts = [], [], []
    for c, (name, key) in enumerate(zip(names, keys, strict=True)):
        there = key.drop_null()
        fill = there[0].as_py() if len(there) else None
        cell = _clean(rows.column(name), rows)
        parts.append(cell.is_null().alias(f"jm{c}"))
        table[f"m{c}"] = key.is_null()
        left.append(f"jm{c}")
        right.append(f"m{c}")
        if fill is not None:
            table[f"k{c}"] = key.fill_null(pa.scalar(fill, key.type))
            parts.append(nw.when(cell.is_null()).then(nw.lit(fill)).otherwise(cell).alias(f"jk{c}"))
            left.append(f"jk{c}")
            right.append(f"k{c}")
    small = rows.backend.beside(rows.frame, pa.table({**table, **added}))
    return frame.with_columns(*parts).join(small, left_on=left, right_on=right, how=how)


def rows_in_cells(
    rows: Rows, names: Sequence[str], keys: Sequence[pa.Array], added: Mapping[str, pa.Array]
) -> Rows:
    """The rows that are in one of the cells, with what is `added` for it; where the rows are."""
    from crypsis.engine.frames import Rows

    joined = beside_cells(rows, rows.frame, names, keys, added, how="inner")
    extra = [Column(name, Kind.NUMBER, name) for name in added]
    columns = [*extra, *rows.columns]
    picked = joined.select(*(column.inner for column in columns))
    return Rows(columns, lambda: picked, rows.backend)


def _clean(column: Column, rows: Rows) -> nw.Expr:
    cell = nw.col(column.inner)
    if column.kind is Kind.NUMBER and rows.frame.collect_schema()[column.inner].is_float():
        return nw.when(~cell.is_nan()).then(cell)
    return cell
