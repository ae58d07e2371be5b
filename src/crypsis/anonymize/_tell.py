"""Every row told as its cell is: in memory where the rows fit, else where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.anonymize._hierarchy import as_text
from crypsis.anonymize._staged import fits_in_memory, with_exceptions
from crypsis.anonymize._table import Repair, Table
from crypsis.anonymize.kernels import crowds
from crypsis.cells import Cells
from crypsis.engine import Rows, arrow_files, open_frame
from crypsis.engine.base import Kind
from crypsis.grouping import group_keys

Ints = NDArray[np.int64]

_MAPPED_ROWS = 50_000_000
_PART_ROWS = 1_000_000


@dataclass(frozen=True, eq=False)
class Told:
    """The rows of a release, and which originals they are.

    `row_map` is None where all rows are there in their order, and empty where it was not kept.
    """

    rows: Rows
    row_map: tuple[int, ...] | None = None


def tell(rows: Rows, cells: Cells, first: Ints, table: Table, found: Repair) -> Told:
    """The rows, each on the levels of its cell; `first` is a cell of each of the groups found."""
    if not (found.levels != 0).any():
        return Told(rows)
    teller = _Teller(rows, cells, table, found)
    if fits_in_memory(rows):
        before = rows.to_arrow()
        kept = teller.kept(before)
        order = None if kept.all() else tuple(np.flatnonzero(kept).tolist())
        return Told(open_frame(teller.told(before)), order)
    changed = np.flatnonzero((found.levels != 0).any(axis=1))
    dropped = found.levels[changed, 0] < 0
    told = [every.take(pa.array(place[changed])) for every, place in teller.labels]
    keys = [
        cells.values[c].take(pa.array(cells.codes[c][first[changed]]))
        for c in range(len(teller.names))
    ]
    joined, in_order = with_exceptions(rows, teller.names, keys, told, dropped.tolist())
    if rows.backend.name == "spark":
        return Told(joined, () if dropped.any() else None)
    row_map = teller.row_map(rows) if dropped.any() else None
    return Told(_Streamed(joined, in_order, rows, teller.told), row_map)


class _Teller:
    """What each row becomes, found by its values; any part of the rows at a time."""

    def __init__(self, rows: Rows, cells: Cells, table: Table, found: Repair) -> None:
        self.cells, self.table, self.levels = cells, table, found.levels
        self.names = [one.name for one in table.ladders]
        self.labels = [
            _named(cells.values[c], rows.column(name).kind, *pair)
            for c, (name, pair) in enumerate(
                zip(self.names, table.labels(found.levels), strict=True)
            )
        ]

    def kept(self, rows: pa.Table) -> NDArray[np.bool_]:
        """Which rows are not left out."""
        return np.asarray(self.levels[self._cells(rows), 0] >= 0)

    def told(self, rows: pa.Table) -> pa.Table:
        """The rows as they are released."""
        cell = self._cells(rows)
        kept = self.levels[cell, 0] >= 0
        if not kept.all():
            rows, cell = rows.filter(pa.array(kept)), cell[kept]
        for c, (name, (every, place)) in enumerate(zip(self.names, self.labels, strict=True)):
            if (self.levels[:, c] > 0).any():
                told = every.take(pa.array(place[cell]))
                rows = rows.set_column(rows.schema.get_field_index(name), name, told)
        return rows

    def row_map(self, rows: Rows) -> tuple[int, ...]:
        """For each released row the number of its original; nothing where that are too many."""
        if rows.count > _MAPPED_ROWS:
            return ()
        parts = [self.kept(part) for part in parts_of(rows.only(self.names))]
        return tuple(np.flatnonzero(np.concatenate(parts)).tolist())

    def _cells(self, rows: pa.Table) -> Ints:
        codes, domains = [], []
        for c, name in enumerate(self.names):
            values = self.cells.values[c]
            column = rows[name].cast(values.type)
            if pa.types.is_floating(column.type):  # NaN is missing, and -0.0 is 0.0
                column = pc.if_else(pc.is_nan(column), None, pc.add(column, 0.0))
            found = pc.index_in(column, value_set=values).combine_chunks()
            codes.append(np.concatenate([self.table.places[c], np.asarray(found, np.int32)]))
            domains.append(len(values))
        keys, _ = group_keys(tuple(codes), tuple(domains))
        size = self.table.counts.size
        place: Ints = crowds.places_of(keys[:size], keys[size:])
        return place


class _Streamed(Rows):
    """Rows told part by part in their order; questions about all of them go to a join instead.

    So that they can be written in order without being sorted.
    """

    def __init__(
        self, joined: Rows, in_order: Rows, before: Rows, told: Callable[[pa.Table], pa.Table]
    ) -> None:
        super().__init__(joined.columns, lambda: joined.frame, joined.backend)
        self._in_order, self._before, self._told = in_order, before, told

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for part in parts_of(self._before):
            yield from arrow_files.batches_of(self._told(part))

    def to_arrow(self, names: Sequence[str] | None = None) -> pa.Table:
        """The rows themselves, in their order."""
        table = pa.Table.from_batches(list(self._batches()))
        return table if names is None else table.select(list(names))

    def named_frame(self) -> Any:
        """The engine's own lazy frame, in order."""
        return self._in_order.named_frame()

    def neutral(self, form: str) -> Rows:
        """The rows, in order, as they go into a CSV file that a spreadsheet may open."""
        return self._in_order.neutral(form)

    def write_file(self, path: Path | str, form: str) -> None:
        """Write the rows as they come."""
        arrow_files.write(self._batches(), self.names, Path(path), form)


def parts_of(rows: Rows, what: str = "telling rows") -> Iterator[pa.Table]:
    """The rows in their order, about a million at a time."""
    waiting: list[pa.RecordBatch] = []
    for batch in rows.backend.batches(rows.frame, what):
        waiting.append(batch.rename_columns(list(rows.names)))
        if sum(one.num_rows for one in waiting) >= _PART_ROWS:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def _named(values: pa.Array, kind: Kind, labels: list[Any], place: Ints) -> tuple[pa.Array, Ints]:
    """The labels of a column as one array: of its own type, or as text where a name is used."""
    used = np.zeros(len(labels), bool)
    used[place] = True
    named = [label if there else None for label, there in zip(labels, used.tolist(), strict=True)]
    if kind is Kind.TEXT or any(isinstance(label, str) for label in named):
        return pa.array([None if v is None else as_text(v) for v in named], pa.string()), place
    if any(isinstance(label, float) for label in named) and not pa.types.is_floating(values.type):
        # Means and medians stand for groups of whole or decimal numbers.
        return pa.array([None if v is None else float(v) for v in named], pa.float64()), place
    return pa.array(named, values.type), place
