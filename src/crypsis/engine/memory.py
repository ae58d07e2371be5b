"""Rows that are an Arrow table in memory: what is easily counted there needs no engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.engine import arrow_files, duck
from crypsis.engine.base import Tally, columns_of
from crypsis.engine.duck import DuckBackend, inner_names
from crypsis.engine.frames import COUNT, Rows

_COUNTED_HERE = 200_000
"""More rows are counted faster by DuckDB, on all cores."""
_LARGEST_TEXT = 2**31 - 1
_PLAIN = (
    pa.types.is_boolean, pa.types.is_integer, pa.types.is_float32, pa.types.is_float64,
    pa.types.is_string, pa.types.is_date32,
)  # fmt: skip


class _TableBackend(DuckBackend):
    """DuckDB over a table in memory, connected when it is first asked something."""

    def __init__(self, table: pa.Table) -> None:
        super().__init__()
        del self.connection  # made by the property below, when it is needed
        self._table = table

    @cached_property
    def connection(self) -> duckdb.DuckDBPyConnection:  # type: ignore[override]
        connection = duck.connect()
        connection.register("source", self._table)
        return connection


class TableRows(Rows):
    """The rows of an Arrow table whose columns all have plain types (see `plain`)."""

    def __init__(self, table: pa.Table, names: Sequence[str]) -> None:
        self.table = table.rename_columns(inner_names(len(names)))
        backend = _TableBackend(self.table)
        columns = columns_of(nw.from_native(self.table).lazy(), names)
        load = lambda: nw.from_native(_source(backend))  # noqa: E731
        super().__init__(columns, load, backend, self.table.num_rows)

    def to_arrow(self, names: Sequence[str] | None = None) -> pa.Table:
        """The rows themselves as an Arrow table."""
        chosen = self.names if names is None else tuple(names)
        inner = [self.column(name).inner for name in chosen]
        return self.table.select(inner).rename_columns(list(chosen))

    def only(self, names: Sequence[str]) -> Rows:
        """The same rows with some of the columns."""
        return TableRows(self.to_arrow(names), names)

    def write_file(self, path: Path | str, form: str) -> None:
        """Write the rows to `path`: Parquet by Arrow, which has them already."""
        if form != "parquet" or not self.count:
            super().write_file(path, form)
            return
        arrow_files.write(arrow_files.batches_of(self.table), self.names, Path(path), form)

    def tally(self, names: Sequence[str], *, drop_missing: bool = False) -> Tally:
        """How many groups of equal rows some columns make; of a small table by Arrow."""
        if not 0 < self.count <= _COUNTED_HERE:
            return super().tally(names, drop_missing=drop_missing)
        counted = self._counted(names, self._groupable(names), None, self.count)
        sizes = counted[COUNT].to_numpy()
        blank = np.zeros(sizes.size, np.bool_)
        for column in counted.columns[:-1]:
            blank |= column.is_null().to_numpy()
        missing = int(sizes[blank].sum())
        some = sizes[~blank] if drop_missing else sizes
        least, most = (int(some.min()), int(some.max())) if some.size else (0, 0)
        once, twice = (int((some == n).sum()) for n in (1, 2))
        return Tally(int(some.sum()), some.size, once, twice, least, most, missing)

    def _counted(
        self, names: Sequence[str], inner: list[str], weight: str | None, at_most: int
    ) -> pa.Table:
        """A small table is counted by Arrow, before an engine would have begun."""
        if weight is not None or self.count > min(_COUNTED_HERE, at_most) or not self.count:
            return super()._counted(names, inner, weight, at_most)
        coded = [_clean(self.table[name]).combine_chunks().dictionary_encode() for name in inner]
        codes = pa.table([column.indices for column in coded], names=inner)
        grouped = codes.group_by(inner, use_threads=False).aggregate([([], "count_all")])
        columns = [
            pa.DictionaryArray.from_arrays(grouped[name].combine_chunks(), column.dictionary)
            for name, column in zip(inner, coded, strict=True)
        ]
        return pa.table([*columns, grouped["count_all"]], names=[*inner, COUNT])


def _source(backend: _TableBackend) -> Any:
    with duck.translated("opening the table"):
        return backend.connection.sql("SELECT * FROM source")


def _clean(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """NaN turned into missing and minus zero into zero."""
    if not pa.types.is_floating(column.type):
        return column
    whole = pc.add(column, pa.scalar(0.0, column.type))
    return pc.if_else(pc.is_nan(whole), pa.scalar(None, column.type), whole)


def plain(table: pa.Table) -> pa.Table | None:
    """The table, texts as short strings, if all its types mean the same here and in DuckDB."""
    if table.nbytes >= _LARGEST_TEXT:
        return None
    for i, field in enumerate(table.schema):
        if pa.types.is_large_string(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.string()))
        elif not any(check(field.type) for check in _PLAIN):
            return None
    return table
