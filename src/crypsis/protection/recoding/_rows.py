"""Every row on the levels of its cell: in memory if the rows fit, else where they are stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from crypsis.array_types import Flags, Ints
from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group_keys
from crypsis.counting.kernels.keys import places_of
from crypsis.hierarchies.labels import as_text
from crypsis.protection.recoding._columns import MAX_MAPPED_ROWS, fits_in_memory, with_exceptions
from crypsis.protection.recoding._levels import CellLevels, Recoding
from crypsis.tables import Kind, Rows, open_frame
from crypsis.tables.streamed import StreamedRows
from crypsis.tables.values import places_among


@dataclass(frozen=True, eq=False)
class RecodedRows:
    """The rows of a release, and the original row of each.

    `row_map` is None if all rows are there in their order, and empty if it was not kept.
    """

    rows: Rows
    row_map: tuple[int, ...] | None = None


def recode_rows(rows: Rows, cells: Cells, first: Ints, levels: CellLevels, recoding: Recoding) -> RecodedRows:
    """The rows, each on the levels of its cell; `first` is a cell of each class of `levels`."""
    if not recoding.changes:
        return RecodedRows(rows)
    recoder = _RowRecoder(rows, cells, levels, recoding)
    if fits_in_memory(rows):
        before = rows.to_arrow()
        kept = recoder.kept(before)
        order = None if kept.all() else tuple(np.flatnonzero(kept).tolist())
        return RecodedRows(open_frame(recoder.recoded(before)), order)
    changed = np.flatnonzero((recoding.levels != 0).any(axis=1))
    suppressed = recoding.levels[changed, 0] < 0
    labels = [values.take(pa.array(codes[changed])) for values, codes in recoder.labels]
    keys = [cells.values[c].take(pa.array(cells.codes[c][first[changed]])) for c in range(len(recoder.names))]
    joined, in_order = with_exceptions(rows, recoder.names, keys, labels, suppressed.tolist())
    if not rows.local:
        return RecodedRows(joined, () if suppressed.any() else None)
    row_map = recoder.row_map(rows) if suppressed.any() else None
    return RecodedRows(StreamedRows(joined, in_order, lambda: map(recoder.recoded, parts_of(rows))), row_map)


class _RowRecoder:
    """The labels of each row, found by its values; any part of the rows at a time."""

    def __init__(self, rows: Rows, cells: Cells, levels: CellLevels, recoding: Recoding) -> None:
        self.cells, self.places, self.levels = cells, levels.places, recoding.levels
        self.names = [column.name for column in levels.columns]
        self.labels = [
            _label_array(cells.values[c], rows.column(name).kind, *pair)
            for c, (name, pair) in enumerate(zip(self.names, levels.labels(recoding.levels), strict=True))
        ]

    def kept(self, rows: pa.Table) -> Flags:
        """Which rows are not suppressed."""
        return np.asarray(self.levels[self._cells(rows), 0] >= 0)

    def recoded(self, rows: pa.Table) -> pa.Table:
        """The rows as they are released."""
        cell = self._cells(rows)
        kept = self.levels[cell, 0] >= 0
        if not kept.all():
            rows, cell = rows.filter(pa.array(kept)), cell[kept]
        for c, (name, (values, codes)) in enumerate(zip(self.names, self.labels, strict=True)):
            if (self.levels[:, c] > 0).any():
                labels = values.take(pa.array(codes[cell]))
                rows = rows.set_column(rows.schema.get_field_index(name), name, labels)
        return rows

    def row_map(self, rows: Rows) -> tuple[int, ...]:
        """The number of the original of each released row; nothing if they are too many."""
        if rows.count > MAX_MAPPED_ROWS:
            return ()
        parts = [self.kept(part) for part in parts_of(rows.select(self.names))]
        return tuple(np.flatnonzero(np.concatenate(parts)).tolist())

    def _cells(self, rows: pa.Table) -> Ints:
        codes, domains = [], []
        for c, name in enumerate(self.names):
            values = self.cells.values[c]
            codes.append(np.concatenate([self.places[c], places_among(rows[name], values)]))
            domains.append(len(values))
        keys, _ = group_keys(tuple(codes), tuple(domains))
        size = self.places[0].size
        positions: Ints = places_of(keys[:size], keys[size:])
        return positions


def parts_of(rows: Rows, what: str = "recoding rows") -> Iterator[pa.Table]:
    """The rows in their order, about a million at a time."""
    return rows.parts(what)


def _label_array(values: pa.Array, kind: Kind, labels: list[Any], codes: Ints) -> tuple[pa.Array, Ints]:
    """The labels of a column as one array: of its own type, or as text if a text is used."""
    used = np.zeros(len(labels), bool)
    used[codes] = True
    shown = [label if is_used else None for label, is_used in zip(labels, used.tolist(), strict=True)]
    if kind is Kind.TEXT or any(isinstance(label, str) for label in shown):
        return pa.array([None if v is None else as_text(v) for v in shown], pa.string()), codes
    if any(isinstance(label, float) for label in shown) and not pa.types.is_floating(values.type):
        # Means and medians represent groups of integers or decimal numbers.
        return pa.array([None if v is None else float(v) for v in shown], pa.float64()), codes
    return pa.array(shown, values.type), codes
