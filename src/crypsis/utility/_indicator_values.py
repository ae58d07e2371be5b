"""The values of an indicator in one file, by group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.array_types import Flags, Floats, Ints
from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, ParameterError, unknown_columns
from crypsis.results import Estimate
from crypsis.utility._indicator_file import Indicator
from crypsis.utility._survey_estimates import (
    Design,
    weighted_mean,
    weighted_quantile,
    weighted_regression,
    weighted_total,
)

Group = tuple[Any, ...]
"""The value of `by` (where there is one), then those of the cell, or the name of a coefficient."""
Found = dict[Group, Estimate | None]


def estimates(
    indicator: Indicator,
    data: Dataset,
    parts: dict[str, str | None],
    confidence: float,
    groups: Sequence[Group] | None = None,
) -> Found:
    """The estimates of an indicator; with `groups` in those of the original."""
    used = [*indicator.columns, indicator.by, *parts.values()]
    names = list(dict.fromkeys(name for name in used if name is not None))
    unknown = [name for name in names if name not in data.names]
    if unknown:
        raise unknown_columns(unknown, data.names)
    table = data.to_arrow(names)
    needed = [*indicator.columns, *([indicator.by] if indicator.by else [])]
    has_values = np.ones(table.num_rows, bool)
    for name in needed:
        has_values &= np.asarray(pc.is_valid(table[name]))
        if pa.types.is_floating(table.schema.field(name).type):
            has_values &= ~np.asarray(pc.fill_null(pc.is_nan(table[name]), True))
    design = _design(table, parts).some(has_values)
    by_cell: Found = {}
    for head, rows in _groups(indicator, table, has_values, groups):
        by_cell |= _of_group(indicator, table, design.some(rows), rows, confidence, head, groups)
    return by_cell


def _groups(
    indicator: Indicator, table: pa.Table, in_table: Flags, groups: Sequence[Group] | None
) -> Iterator[tuple[Group, Flags]]:
    """The records of each value of `by`; all of them without it."""
    if indicator.by is None:
        yield (), in_table
        return
    values = (
        sorted(pc.unique(table[indicator.by].drop_null()).to_pylist())
        if groups is None
        else list(dict.fromkeys(group[0] for group in groups))
    )
    for value in values:
        yield (value,), in_table & _equal(table[indicator.by], value)


def _of_group(
    indicator: Indicator,
    table: pa.Table,
    design: Design,
    rows: Flags,
    confidence: float,
    head: Group,
    groups: Sequence[Group] | None,
) -> Found:
    if indicator.estimate == "share":
        return _shares(indicator, table, design, rows, confidence, head, groups)
    if indicator.estimate == "regression":
        return _coefficients(indicator, table, design, rows, confidence, head)
    y = np.where(rows, _numbers(table, indicator.columns[0]), 0.0)
    if indicator.estimate == "mean":
        return {head: weighted_mean(y, design, confidence)}
    if indicator.estimate == "total":
        return {head: weighted_total(y, design, confidence)}
    assert indicator.quantile is not None  # noqa: S101 - a quantile has one
    return {head: weighted_quantile(y, indicator.quantile, design, confidence)}


def _shares(
    indicator: Indicator,
    table: pa.Table,
    design: Design,
    rows: Flags,
    confidence: float,
    head: Group,
    groups: Sequence[Group] | None,
) -> Found:
    """The share of each combination of values: a weighted table."""
    columns = [table[name] for name in indicator.columns]
    if groups is None:
        kept = pa.table(columns, names=list(map(str, range(len(columns))))).filter(pa.array(rows))
        names = kept.column_names
        seen = kept.group_by(names).aggregate([([], "count_all")]).sort_by([(n, "ascending") for n in names])
        cells = [tuple(row[n] for n in names) for row in seen.to_pylist()]
    else:
        cells = [group[len(head) :] for group in groups if group[: len(head)] == head]
    by_cell: Found = {}
    for cell in cells:
        same = rows.copy()
        for column, value in zip(columns, cell, strict=True):
            same &= _equal(column, value)
        by_cell[*head, *cell] = weighted_mean(same.astype(float), design, confidence)
    return by_cell


def _coefficients(
    indicator: Indicator, table: pa.Table, design: Design, rows: Flags, confidence: float, head: Group
) -> Found:
    y = np.where(rows, _numbers(table, indicator.columns[0]), 0.0)
    terms = [np.where(rows, _numbers(table, name), 0.0) for name in indicator.columns[1:]]
    x = np.column_stack([rows.astype(float), *terms])
    fitted = weighted_regression(y, x, design, confidence)
    names = ("intercept", *indicator.columns[1:])
    return {(*head, name): None if fitted is None else fitted[i] for i, name in enumerate(names)}


def _design(table: pa.Table, parts: dict[str, str | None]) -> Design:
    rows = table.num_rows
    weight = np.ones(rows)
    if parts["weight"] is not None:
        weight = _numbers(table, parts["weight"])
        if not np.isfinite(weight).all() or (weight <= 0).any():
            raise ParameterError(
                "Weights must be positive numbers; some are missing, zero or negative.",
                code="invalid-weights",
            )
    stratum = np.zeros(rows, np.int64)
    if parts["stratum"] is not None:
        stratum = _codes(table[parts["stratum"]])
    cluster = np.arange(rows) if parts["cluster"] is None else _codes(table[parts["cluster"]])
    return Design(weight, stratum, cluster)


def _codes(column: pa.ChunkedArray) -> Ints:
    coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return np.asarray(coded.indices, np.int64)


def _numbers(table: pa.Table, name: str) -> Floats:
    kind = table.schema.field(name).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise ColumnError(f"Column {name!r} is not numeric.", code="not-numeric", columns=(name,))
    column = table[name].cast(pa.float64(), safe=False).combine_chunks()
    return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)


def _equal(column: pa.ChunkedArray, value: Any) -> Flags:
    """Which records have a value; none where the types differ, as after a generalization."""
    try:
        same = pc.equal(column, pa.scalar(value, column.type))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return np.zeros(len(column), bool)
    return np.asarray(pc.fill_null(same, False))
