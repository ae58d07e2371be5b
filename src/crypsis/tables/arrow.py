"""Rows that are an Arrow table in memory: small tables are counted there, without an engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from crypsis.counting.arrays import codes, places
from crypsis.counting.cells import ColumnSetCounts
from crypsis.counting.grouping import group
from crypsis.files import Sources
from crypsis.tables import arrow_files
from crypsis.tables.backend import Frame
from crypsis.tables.duckdb.backend import DuckBackend
from crypsis.tables.duckdb.connection import connect, translated
from crypsis.tables.parallel import each_column
from crypsis.tables.rows import COUNT, Rows
from crypsis.tables.schema import columns_of, inner_names
from crypsis.tables.values import clean_column

_MAX_TALLIED_ROWS = 200_000
"""Of more rows DuckDB is faster, on all cores."""
_MAX_COUNTED_ROWS = 1_000_000
"""Of more rows DuckDB is faster, even where the cells have to be fetched."""
_MAX_TEXT_BYTES = 2**31 - 1
"""Short strings of Arrow have offsets of 32 bits."""
_PLAIN = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_float32,
    pa.types.is_float64,
    pa.types.is_string,
    pa.types.is_date32,
)


class _TableBackend(DuckBackend):
    """DuckDB over a table in memory, connected by the first question."""

    def __init__(self, table: pa.Table, sources: Sources | None) -> None:
        super().__init__(sources=sources)
        del self.connection  # made by the property below, when it is first used
        self._table = table

    @cached_property
    def connection(self) -> duckdb.DuckDBPyConnection:  # type: ignore[override]
        connection = connect()
        connection.register("source", self._table)
        return connection


class TableRows(Rows):
    """The rows of an Arrow table whose columns all have plain types (see `plain`)."""

    def __init__(
        self,
        table: pa.Table,
        names: Sequence[str],
        sources: Sources | None = None,
        reopen: Callable[[], Rows] | None = None,
        durations: Collection[str] = (),
    ) -> None:
        self.table = table.rename_columns(inner_names(len(names)))
        backend = _TableBackend(self.table, sources)
        columns = columns_of(nw.from_native(self.table).lazy(), names, durations)
        load = partial(_opened, backend)
        super().__init__(columns, load, backend, self.table.num_rows, reopen)
        self._codes: dict[str, pa.DictionaryArray] = {}  # of the columns counted so far

    def __reduce__(self) -> tuple[Any, ...]:
        if self.reopen is not None:
            return self.reopen, ()
        return TableRows, (self.table, self.names, None, None, self._durations(self.names))

    def _durations(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if self.column(name).duration]

    def to_arrow(self, names: Sequence[str] | None = None) -> pa.Table:
        """The rows themselves as an Arrow table."""
        chosen = self.names if names is None else tuple(names)
        inner = [self.column(name).inner for name in chosen]
        return self.table.select(inner).rename_columns(list(chosen))

    def select(self, names: Sequence[str]) -> Rows:
        """The same rows with some of the columns."""
        return TableRows(self.to_arrow(names), names, durations=self._durations(names))

    def write_file(self, path: Path | str, form: str, delimiter: str = ",") -> None:
        """Write the rows to `path`; Parquet by Arrow."""
        if form != "parquet" or not self.count:
            super().write_file(path, form, delimiter)
            return
        arrow_files.write(arrow_files.batches_of(self.table), self.names, Path(path), form)

    def tally(self, names: Sequence[str], *, drop_missing: bool = False) -> ColumnSetCounts:
        """The equivalence classes of some columns; of a small table counted in memory."""
        if not 0 < self.count <= _MAX_TALLIED_ROWS:
            return super().tally(names, drop_missing=drop_missing)
        counted = self._counted(names, self.comparable(names), None, self.count)
        return ColumnSetCounts.from_table(names, counted, drop_missing=drop_missing)

    def _counted(self, names: Sequence[str], inner: list[str], weight: str | None, at_most: int) -> pa.Table:
        """A small table is counted in memory, before an engine would have started."""
        if weight is not None or self.count > min(_MAX_COUNTED_ROWS, at_most) or not self.count:
            return super()._counted(names, inner, weight, at_most)
        new = [name for name in inner if name not in self._codes]
        new_codes = each_column(_coded, [self.table[name] for name in new])
        self._codes.update(zip(new, new_codes, strict=True))
        coded = [self._codes[name] for name in inner]
        domains = tuple(len(column.dictionary) + 1 for column in coded)
        first, member = group(tuple(map(codes, coded)), domains)
        columns = [column.take(places(first)) for column in coded]
        return pa.table([*columns, places(np.bincount(member))], names=[*inner, COUNT])


def _opened(backend: _TableBackend) -> Frame:
    with translated("opening the table"):
        frame: Frame = nw.from_native(backend.connection.sql("SELECT * FROM source"))
        return frame


def _coded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    return clean_column(column).combine_chunks().dictionary_encode()


def plain(table: pa.Table) -> pa.Table | None:
    """The table, texts as short strings, if all its types mean the same here and in DuckDB."""
    if table.nbytes >= _MAX_TEXT_BYTES:
        return None
    for i, field in enumerate(table.schema):
        if pa.types.is_large_string(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.string()))
        elif not any(check(field.type) for check in _PLAIN):
            return None
    return table
