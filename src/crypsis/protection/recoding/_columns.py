"""Columns recoded where the rows are stored; single rows recoded otherwise by a join."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis import progress
from crypsis.errors import RequirementsNotMetError
from crypsis.protection.recoding._choice import ColumnPlan
from crypsis.protection.recoding._steps import Intervals, Keep, Step, Suppress, Top, intervals, text_of
from crypsis.tables import Column, Kind, Rows, open_frame
from crypsis.tables.joins import join_cells
from crypsis.tables.values import clean_column
from crypsis.threads import map_threads

IN_MEMORY_VALUES = 70_000_000
"""Tables with at most so many values are recoded in memory, at once."""
MAX_MAPPED_ROWS = 50_000_000
"""Beyond so many rows a release has no row map, which is a Python number for each row."""
_DROP_COLUMN = "drop"
_HIT_COLUMN = "hit"
_ROW_NUMBER_COLUMN = "row_number"


def recoded_columns(rows: Rows, steps: Mapping[str, Step], removed: Sequence[str] = ()) -> Rows:
    """The same rows after the steps, without the columns removed; nothing is computed yet.

    Classes are counted with NaN as missing and minus zero as zero. A file would distinguish them,
    so in the columns that have a step they become what they were counted as, also by `Keep`.
    """
    columns = [column for column in rows.columns if column.name not in removed]
    kept = [name for name, step in steps.items() if isinstance(step, Keep)]
    numbers = [name for name in kept if rows.column(name).kind is Kind.NUMBER]
    if len(kept) == len(steps) and not numbers:
        return rows.select([column.name for column in columns]) if removed else rows
    if fits_in_memory(rows):
        return _recoded_in_memory(rows, steps, [column.name for column in columns])
    parts, after = [], []
    for column in columns:
        step = steps.get(column.name, Keep())
        cell = nw.col(column.inner)
        if isinstance(step, Keep):
            parts.append(rows.cell(column.inner) if column.name in numbers else cell)
            after.append(column)
        else:
            parts.append(step.expression(cell, column.kind).alias(column.inner))
            after.append(Column(column.name, step.kind(column.kind), column.inner))
    return rows.derive(after, lambda frame: frame.select(*parts))


def fits_in_memory(rows: Rows) -> bool:
    """Whether the rows are few enough to be recoded in memory, at once."""
    return rows.local and rows.count * len(rows.columns) <= IN_MEMORY_VALUES


def _recoded_in_memory(rows: Rows, steps: Mapping[str, Step], names: Sequence[str]) -> Rows:
    """Column by column, on all cores."""
    table = rows.to_arrow(names)

    def column(name: str) -> pa.ChunkedArray:
        step = steps.get(name, Keep())
        if not isinstance(step, Keep):
            return recoded_array(table[name], step)
        return clean_column(table[name]) if name in steps else table[name]

    with progress.step("recoding columns"):
        columns = map_threads(column, names)
    return open_frame(pa.table(columns, names=list(names)))


def recoded_array(column: pa.ChunkedArray, step: Step) -> pa.Array:
    """A column in memory after a step; NaN is missing."""
    values = clean_column(column).combine_chunks()
    if isinstance(step, Suppress):
        return pa.nulls(len(values), values.type)
    if isinstance(step, Intervals) and step.upper and values.null_count < len(values):
        numbers = np.asarray(pc.fill_null(values, 0).cast(pa.float64(), safe=False))
        interval = np.searchsorted(np.array(step.upper), numbers).astype(np.int32)
        gone = np.asarray(values.is_null()) if values.null_count else None
        return pa.array(step.labels).take(pa.array(interval, mask=gone))
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
    labels: Sequence[pa.Array],
    suppressed: Sequence[bool],
) -> tuple[Rows, Rows]:
    """Rows whose columns `names` equal one of the `keys` get other labels, or are suppressed.

    `keys[c][e]` is the value of exception e in column c, `labels[c][e]` its label. A join returns
    rows in any order; returned as well: the same rows sorted.
    """
    texts = [pa.types.is_string(values.type) for values in labels]
    added = {f"r{c}": values for c, values in enumerate(labels)}
    added[_DROP_COLUMN] = pa.array(list(suppressed), pa.bool_())
    added[_HIT_COLUMN] = pa.array([True] * len(suppressed), pa.bool_())
    numbered = rows.numbered(_ROW_NUMBER_COLUMN)
    joined = join_cells(rows, numbered, names, keys, added, how="left")
    hit = ~nw.col(_HIT_COLUMN).is_null()
    outputs, after = [], []
    for column in rows.columns:
        if column.name not in names:
            outputs.append(nw.col(column.inner))
            after.append(column)
            continue
        c = list(names).index(column.name)
        unchanged = text_of(nw.col(column.inner), column.kind) if texts[c] else nw.col(column.inner)
        outputs.append(nw.when(hit).then(nw.col(f"r{c}")).otherwise(unchanged).alias(column.inner))
        number = pa.types.is_floating(labels[c].type)
        kind = Kind.TEXT if texts[c] else Kind.NUMBER if number else column.kind
        after.append(Column(column.name, kind, column.inner))
    if any(suppressed):
        joined = joined.filter(~nw.when(hit).then(nw.col(_DROP_COLUMN)).otherwise(nw.lit(False)))
    in_order = joined.sort(_ROW_NUMBER_COLUMN) if _ROW_NUMBER_COLUMN in numbered.columns else joined
    return (
        rows.derive(after, lambda _: joined.select(*outputs)),
        rows.derive(after, lambda _: in_order.select(*outputs)),
    )


def column_counts(rows: Rows, names: Sequence[str]) -> dict[str, Counter[object]]:
    """The count of each value of each column, in one pass; missing values are not counted."""
    return {name: Counter(values) for name, values in rows.value_counts(names).items()}


def min_count(counts: Counter[object]) -> int:
    """The rows of the least frequent value; unlimited for a column without values."""
    return min(counts.values(), default=2**62)


def merge_small_groups(
    columns: Sequence[ColumnPlan], rows: Rows, counts: Mapping[str, Counter[object]], k: int
) -> list[ColumnPlan]:
    """Column plans whose values all have k rows: groups made too small by ties are merged.

    `rows` are not recoded; `counts` are those of the values that the plans recode them to.
    """
    return [
        column
        if min_count(counts[column.name]) >= k
        else _merged_column(column, rows, counts[column.name], k)
        for column in columns
    ]


def _merged_column(column_plan: ColumnPlan, rows: Rows, counts: Counter[object], k: int) -> ColumnPlan:
    if not isinstance(column_plan.step, Intervals):
        for position, step in enumerate(column_plan.coarser):
            coarser: Counter[object] = Counter()
            for value, size in counts.items():
                coarser[step.label(column_plan.step.raw_value(value))] += size
            if min_count(coarser) >= k:
                above = column_plan.coarser[position + 1 :]
                return column_plan.model_copy(update={"step": step, "coarser": above})
        raise RequirementsNotMetError(
            f"Column {column_plan.name!r} has values with fewer than {k:,} records and no coarser step.",
            code="no-coarser-step",
            hint="Set {hierarchies} for it or remove the column.",
            columns=(column_plan.name,),
        )
    sizes = [counts.get(label, 0) for label in column_plan.step.labels]
    upper, labels, inside, best = [], [], 0, 0
    for position, size in enumerate(sizes):
        if size >= best:
            best, label = size, column_plan.step.labels[position]
        inside += size
        left = sum(sizes[position + 1 :])
        if inside >= k and left >= k and position < len(column_plan.step.upper):
            upper.append(column_plan.step.upper[position])
            labels.append(label)
            inside = best = 0
    labels.append(label)
    step = intervals(
        upper,
        integer=rows.column(column_plan.name).kind is Kind.INTEGER,
        representatives=None if isinstance(labels[0], str) else labels,  # type: ignore[arg-type]
    )
    return column_plan.model_copy(update={"step": step, "coarser": (), "values_after": len(step.labels)})
