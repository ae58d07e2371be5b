"""The part of the work that DuckDB does in its own language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.counting import arrays
from crypsis.counting.estimates import DistinctSketch
from crypsis.errors import OutputError, SourceError, TooLargeError
from crypsis.files import Sources, replacing_files
from crypsis.tables import arrow_files
from crypsis.tables.backend import Frame
from crypsis.tables.draws import at_random_places
from crypsis.tables.duckdb.connection import connect, open_relation, translated, watched
from crypsis.tables.schema import inner_names
from crypsis.tables.sql import file_list, literal, quote, read_csv

_BATCH_ROWS = 131_072
"""Rows that are fetched at a time."""
_SAMPLING_BATCH_ROWS = 16_384
"""Rows of a batch from which some are drawn: a single row may be long."""
_MAX_RESERVOIR_ROWS = 10_000
"""Larger samples are drawn by random places."""
_MIN_RESERVOIR_TABLE_ROWS = 1_000_000
"""From smaller tables the draws of DuckDB's reservoir are not even."""
_MAX_GROUPED_COLUMNS = 8
"""More columns are counted batch by batch, which is faster for them than grouping sets."""


class DuckBackend:
    """DuckDB on this machine."""

    local = True
    # HyperLogLog (Flajolet et al. 2007): DuckDB has 1,024 registers since 2.0, before it had 64.
    sketch_error = 1.04 / (64 if duckdb.__version__.startswith("1.") else 1024) ** 0.5
    max_values: int | None = None

    def __init__(
        self, connection: duckdb.DuckDBPyConnection | None = None, sources: Sources | None = None
    ) -> None:
        self.connection = connection
        self.sources = Sources(()) if sources is None else sources

    def batches(self, frame: Frame, what: str, rows: int | None = None) -> Iterator[pa.RecordBatch]:
        """Run `frame` and fetch its rows in Arrow batches."""
        with translated(what):
            with watched(self.connection, what):
                reader = frame.to_native().to_arrow_reader(rows or _BATCH_ROWS)
                first = next(reader, None)
            yield first if first is not None else arrow_files.no_rows(reader.schema)
            yield from reader
        self.sources.check()

    def bounded(
        self, frame: Frame, what: str, at_most: int, refusal: TooLargeError
    ) -> Iterator[pa.RecordBatch]:
        """The same, stopped at the first batch that is too much."""
        seen = 0
        for batch in self.batches(frame, what):
            seen += batch.num_rows
            if seen > at_most:
                raise refusal
            yield batch

    def sample(self, frame: Frame, count: int, size: int, seed: int) -> pa.Table:
        """A few rows of many by DuckDB's reservoir, which reads no more of them than it must.

        Its draws from small tables are not even: there, and for larger samples, by random places.
        """
        if size > _MAX_RESERVOIR_ROWS or count < _MIN_RESERVOIR_TABLE_ROWS:
            batches = self.batches(frame, "sampling", _SAMPLING_BATCH_ROWS)
            return at_random_places(batches, count, size, seed)
        drawn = f"USING SAMPLE reservoir({size} ROWS) REPEATABLE ({seed % 2**31})"
        native = frame.to_native().query("every", f"SELECT * FROM every {drawn}")
        return pa.Table.from_batches(list(self.batches(nw.from_native(native), "sampling")))

    def with_hash(self, frame: Frame, key: str, seed: int, name: str) -> Frame:
        """By MD5."""
        digest = f"md5({literal(f'{seed}:')} || CAST({quote(key)} AS VARCHAR))"
        text = f"CAST('0x' || substr({digest}, 1, 15) AS BIGINT)"
        return _lazy(frame.to_native().project(f"*, {text} AS {name}"))

    def with_class_hash(self, frame: Frame, columns: Sequence[str], seed: int, name: str) -> Frame:
        """By DuckDB's own hash."""
        text = f"hash({seed}, {', '.join(map(quote, columns))}) >> 4 AS {name}"
        return _lazy(frame.to_native().project(f"*, {text}"))

    def sketch(self, frame: Frame, sets: Sequence[Sequence[str]]) -> list[DistinctSketch]:
        """Missing rows and HyperLogLog of all sets in one pass."""
        texts = ["count(*) AS n"]
        for i, columns in enumerate(sets):
            condition = " AND ".join(f"{quote(c)} IS NOT NULL" for c in columns)
            value = quote(columns[0])
            if len(columns) > 1:
                value = f"CASE WHEN {condition} THEN hash({', '.join(map(quote, columns))}) END"
            texts += [f"count(*) FILTER ({condition}) AS t{i}", f"approx_count_distinct({value}) AS d{i}"]
        sketched = _lazy(frame.to_native().aggregate(", ".join(texts)))
        row: dict[str, Any] = next(self.batches(sketched, "sketching columns")).to_pylist()[0]
        return [
            DistinctSketch(row["n"], row["n"] - row[f"t{i}"], float(row[f"d{i}"]), self.sketch_error)
            for i in range(len(sets))
        ]

    def value_counts(
        self, frame: Frame, columns: Sequence[str], at_most: int, refusal: TooLargeError
    ) -> list[tuple[list[Any], list[int]]]:
        """A few columns by grouping sets; many batch by batch, which is faster here for them."""
        if len(columns) <= _MAX_GROUPED_COLUMNS:
            return self._grouped_values(frame, columns, at_most, refusal)
        counts: list[Counter[Any]] = [Counter() for _ in columns]
        for batch in self.batches(frame.select(*columns), "counting values"):
            for counter, column in zip(counts, batch.columns, strict=True):
                counted = pc.value_counts(column)
                values, sizes = counted.field("values").to_pylist(), counted.field("counts").to_pylist()
                pairs = zip(values, sizes, strict=True)
                counter.update({v: n for v, n in pairs if v is not None and v == v})
            if sum(map(len, counts)) > at_most:
                raise refusal
        return [(list(counter), list(counter.values())) for counter in counts]

    def _grouped_values(
        self, frame: Frame, columns: Sequence[str], at_most: int, refusal: TooLargeError
    ) -> list[tuple[list[Any], list[int]]]:
        """Every column grouped by itself in one scan; in each answer one column is not blanked."""
        names = ", ".join(map(quote, columns))
        sets = ", ".join(f"({quote(column)})" for column in columns)
        grouping = f"{names}, grouping({names}) AS blanked, count(*) AS n"
        grouped = _lazy(frame.to_native().aggregate(grouping, f"GROUPING SETS ({sets})"))
        batches = self.bounded(grouped, "counting values", at_most, refusal)
        table = pa.Table.from_batches(list(batches))
        all_blanked = 2 ** len(columns) - 1
        counts_by_column = []
        for k, column in enumerate(columns):
            mark = arrays.scalar(np.int64(all_blanked - 2 ** (len(columns) - 1 - k)))
            is_column = pc.equal(table["blanked"], mark)
            counted = table.filter(pc.and_(is_column, table[column].is_valid()))
            counts_by_column.append((counted[column].to_pylist(), counted["n"].to_pylist()))
        return counts_by_column

    def small_table(self, frame: Frame, table: pa.Table) -> Frame:
        """In our own connection; for a relation of the user, as SQL on its connection."""
        if self.connection is not None:
            relation = self.connection.from_arrow(table)
        else:
            parts = []
            types = duckdb.from_arrow(table.slice(0, 0)).types
            for name, kind in zip(table.column_names, types, strict=True):
                values = ", ".join("NULL" if v is None else literal(str(v)) for v in table[name].to_pylist())
                parts.append(f"CAST(unnest([{values}]) AS {kind}) AS {name}")
            relation = frame.to_native().query("crypsis_rows", f"SELECT {', '.join(parts)}")
        return _lazy(relation)

    def with_row_number(self, frame: Frame, name: str) -> Frame:
        """By a window function without an order, which keeps that of the source."""
        return _lazy(frame.to_native().project(f"*, row_number() OVER () AS {name}"))

    def quantiles(
        self, frame: Frame, columns: Sequence[str], probabilities: Sequence[float]
    ) -> dict[str, pa.Array]:
        """All quantiles of all columns in one pass."""
        shares = ", ".join(repr(float(share)) for share in probabilities)
        texts = [f"quantile_disc({quote(c)}, [{shares}]) AS {quote(c)}" for c in columns]
        relation = _lazy(frame.to_native().aggregate(", ".join(texts)))
        table = pa.Table.from_batches(list(self.batches(relation, "quantiles")))
        return {column: table[column].combine_chunks().flatten() for column in columns}

    def named(self, frame: Frame, names: Sequence[str]) -> Any:
        """A relation with the public names."""
        inner = frame.columns
        pairs = ", ".join(f"{quote(a)} AS {quote(b)}" for a, b in zip(inner, names, strict=True))
        return frame.to_native().project(pairs)

    @contextmanager
    def replacing(
        self, frame: Frame, paths: Sequence[str | Path], overwrite: bool
    ) -> Iterator[tuple[Path | str, ...]]:
        """Files of this machine."""
        with replacing_files(paths, overwrite=overwrite) as partials:
            yield partials

    def write(self, frame: Frame, names: Sequence[str], path: Path | str, form: str, delimiter: str) -> None:
        """Write with DuckDB's own writers; by Arrow where DuckDB would rename columns."""
        path = Path(path)
        what = f"writing {path.name}"
        try:
            if len({name.lower() for name in names}) < len(names):
                arrow_files.write(self.batches(frame, what), names, path, form, delimiter)
                return
            relation = self.named(frame, names)
            with translated(what), watched(self.connection, what):
                if form == "parquet":
                    relation.write_parquet(str(path), compression="zstd")
                else:
                    relation.write_csv(str(path), header=True, sep=delimiter)
            self.sources.check()
        except SourceError as error:
            raise OutputError(str(error)) from None

    def read_back(
        self, frame: Frame, names: Sequence[str], path: Path | str, form: str
    ) -> tuple[DuckBackend, Frame]:
        """In a connection of its own."""
        connection = connect()
        if form == "parquet":
            sql = f"SELECT * FROM read_parquet({file_list([str(path)])}, hive_partitioning = false)"
        else:
            sql = f"SELECT * FROM {read_csv([str(path)], len(names))}"
        with translated(Path(path).name):
            relation = open_relation(connection, sql, len(names))
        return DuckBackend(connection, Sources([path])), relation

    @property
    def loader(self) -> Callable[[pa.Table], tuple[DuckBackend, Frame]]:
        """Opens a table in a connection of its own."""
        return _opened


def _opened(table: pa.Table) -> tuple[DuckBackend, Frame]:
    connection = connect()
    connection.register("source", table.rename_columns(inner_names(table.num_columns)))
    return DuckBackend(connection), _lazy(connection.table("source"))


def _lazy(relation: Any) -> Frame:
    frame: Frame = nw.from_native(relation)
    return frame
