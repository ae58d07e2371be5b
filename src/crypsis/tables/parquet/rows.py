"""Rows of Parquet files: counted by code where their columns have few values, else by DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from crypsis.counting.arrays import places
from crypsis.counting.cells import ColumnSetCounts
from crypsis.files import Sources
from crypsis.tables.parquet.codes import NotSmallCodesError
from crypsis.tables.rows import COUNT, Rows
from crypsis.tables.schema import listed

MIN_ROWS = 300_000_000
"""Of fewer rows loading the kernels, about a second, costs too much of what they save."""
MIN_COLUMNS = 2
"""The values of a single column DuckDB counts faster."""


class ParquetRows(Rows):
    """The rows of Parquet files of this machine; `file_names` has the name of each column in the files."""

    def __init__(
        self, rows: Rows, paths: Sequence[str], file_names: Mapping[str, str], sources: Sources
    ) -> None:
        super().__init__(rows.columns, lambda: rows.frame, rows.backend, rows.known_count)
        self.form = rows.form
        self._rows, self._paths, self._file_names, self._sources = rows, tuple(paths), file_names, sources
        self._not_small: list[frozenset[str]] = []

    def select(self, names: Sequence[str]) -> Rows:
        """The same rows with some of the columns."""
        return ParquetRows(self._rows.select(names), self._paths, self._file_names, self._sources)

    def tally(self, names: Sequence[str], *, drop_missing: bool = False) -> ColumnSetCounts:
        """The equivalence classes of some columns."""
        counted = self._counted_by_code(names, self.comparable(names))
        if counted is None:
            return super().tally(names, drop_missing=drop_missing)
        return ColumnSetCounts.from_table(names, counted, drop_missing=drop_missing)

    def _counted(self, names: Sequence[str], inner: list[str], weight: str | None, at_most: int) -> pa.Table:
        """By code where that is possible and faster."""
        counted = self._counted_by_code(names, inner) if weight is None else None
        if counted is None or counted.num_rows > at_most:
            return super()._counted(names, inner, weight, at_most)
        return counted

    def _counted_by_code(self, names: Sequence[str], inner: list[str]) -> pa.Table | None:
        """The cells counted in a dense table, or None where DuckDB has to count them."""
        if len(inner) < MIN_COLUMNS or any(refused <= set(inner) for refused in self._not_small):
            return None
        from crypsis.tables.parquet.dense import dense_cells

        kinds = self.frame.select(*inner).to_native().limit(0).to_arrow_table().schema.types
        file_names = [self._file_names[name] for name in inner]
        try:
            coded, sizes = dense_cells(self._paths, file_names, kinds, "counting " + listed(names))
        except (NotSmallCodesError, pa.ArrowException, OSError):  # DuckDB says what is wrong with a file
            self._not_small.append(frozenset(inner))
            return None
        self._sources.check()
        return pa.table([*coded, places(sizes)], names=[*inner, COUNT])


def parquet_rows(rows: Rows, paths: Sequence[str], sources: Sources) -> Rows:
    """The rows of files of this machine, if they are many and each column is one of the files' own."""
    if rows.count < MIN_ROWS:
        return rows
    try:
        file_names = pq.read_schema(paths[0]).names
    except (pa.ArrowException, OSError):  # files that DuckDB reads and Arrow does not
        return rows
    plain = [name.lower() for name in file_names]
    if len(file_names) != len(rows.columns) or len(set(plain)) < len(file_names):
        return rows
    inner = [column.inner for column in rows.columns]
    return ParquetRows(rows, paths, dict(zip(inner, file_names, strict=True)), sources)
