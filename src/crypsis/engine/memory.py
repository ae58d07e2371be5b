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

from crypsis.arrays import codes, missing, numbers, places, scalar, truths
from crypsis.engine import arrow_files, duck
from crypsis.engine.base import Tally, columns_of
from crypsis.engine.duck import DuckBackend, inner_names
from crypsis.engine.each_column import each_column
from crypsis.engine.frames import COUNT, Rows
from crypsis.files import Sources
from crypsis.grouping import group

_TALLIED_HERE, _COUNTED_HERE = 200_000, 1_000_000
"""Of more rows DuckDB is faster, on all cores; later where the groups have to be fetched."""
_LARGEST_TEXT = 2**31 - 1
_PLAIN = (
    pa.types.is_boolean, pa.types.is_integer, pa.types.is_float32, pa.types.is_float64,
    pa.types.is_string, pa.types.is_date32,
)  # fmt: skip


class _TableBackend(DuckBackend):
    """DuckDB over a table in memory, connected when it is first asked something."""

    def __init__(self, table: pa.Table, sources: Sources | None) -> None:
        super().__init__(sources=sources)
        del self.connection  # made by the property below, when it is needed
        self._table = table

    @cached_property
    def connection(self) -> duckdb.DuckDBPyConnection:  # type: ignore[override]
        connection = duck.connect()
        connection.register("source", self._table)
        return connection


class TableRows(Rows):
    """The rows of an Arrow table whose columns all have plain types (see `plain`)."""

    def __init__(
        self, table: pa.Table, names: Sequence[str], sources: Sources | None = None
    ) -> None:
        self.table = table.rename_columns(inner_names(len(names)))
        backend = _TableBackend(self.table, sources)
        columns = columns_of(nw.from_native(self.table).lazy(), names)
        load = lambda: nw.from_native(_source(backend))  # noqa: E731
        super().__init__(columns, load, backend, self.table.num_rows)
        self._codes: dict[str, pa.DictionaryArray] = {}  # of the columns counted so far

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
        if not 0 < self.count <= _TALLIED_HERE:
            return super().tally(names, drop_missing=drop_missing)
        counted = self._counted(names, self._groupable(names), None, self.count)
        sizes = numbers(counted[COUNT])
        blank = np.zeros(sizes.size, np.bool_)
        for column in counted.columns[:-1]:
            blank |= truths(column.is_null())
        missing = int(sizes[blank].sum())
        some = sizes[~blank] if drop_missing else sizes
        least, most = (int(some.min()), int(some.max())) if some.size else (0, 0)
        once, twice = (int((some == n).sum()) for n in (1, 2))
        return Tally(int(some.sum()), some.size, once, twice, least, most, missing)

    def _counted(
        self, names: Sequence[str], inner: list[str], weight: str | None, at_most: int
    ) -> pa.Table:
        """A table that is not large is counted here, before an engine would have begun."""
        if weight is not None or self.count > min(_COUNTED_HERE, at_most) or not self.count:
            return super()._counted(names, inner, weight, at_most)
        new = [name for name in inner if name not in self._codes]
        found = each_column(_coded, [self.table[name] for name in new])
        self._codes.update(zip(new, found, strict=True))
        coded = [self._codes[name] for name in inner]
        domains = tuple(len(column.dictionary) + 1 for column in coded)
        first, member = group(tuple(map(codes, coded)), domains)
        columns = [column.take(places(first)) for column in coded]
        return pa.table([*columns, places(np.bincount(member))], names=[*inner, COUNT])


def _coded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """The column dictionary-coded, without NaN and minus zero."""
    return _clean(column).combine_chunks().dictionary_encode()


def _source(backend: _TableBackend) -> Any:
    with duck.translated("opening the table"):
        return backend.connection.sql("SELECT * FROM source")


def _clean(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """NaN turned into missing and minus zero into zero."""
    if not pa.types.is_floating(column.type):
        return column
    zero = scalar(np.float64(0)).cast(column.type)
    whole = pc.add(column, zero)
    return pc.if_else(pc.is_nan(whole), missing(column.type), whole)


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
