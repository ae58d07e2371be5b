"""DuckDB: the engine for rows on one machine."""

from __future__ import annotations

import re
import threading
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from crypsis import progress
from crypsis.engine import arrow_files
from crypsis.engine.base import Sketch
from crypsis.engine.sampling import at_random_places
from crypsis.errors import Cancelled, OutputError, ParameterError, SourceError, TooLarge
from crypsis.files import PrivateFolder, Sources

_BATCH_ROWS = 131_072
_PASSING = 16_384
"""Rows that pass by at a time when some are drawn: one of them may be long."""
_FEW_ROWS, _MANY_ROWS = 10_000, 1_000_000
_POLL_SECONDS = 0.2
_FEW_COLUMNS = 8
_DISK = {
    "No space": "the disk is full",
    "File too large": "a file may not grow that large here (ulimit -f)",
    "quota": "the disk quota is used up",
    "Too many open files": "too many files are open (ulimit -n)",
}


def quote(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def inner_names(count: int) -> list[str]:
    """The names that columns have inside the engine."""
    return [f"c{i}" for i in range(count)]


def connect(
    *, memory_limit: str | None = None, spill_folder: str | Path | None = None
) -> duckdb.DuckDBPyConnection:
    """A private in-memory database that spills to a private folder and is never read by others."""
    base = None if spill_folder is None else Path(spill_folder)
    if base is not None and not base.is_dir():
        raise ParameterError(f"The spill folder {str(base)!r} is not a folder; make it first.")
    folder = private_folder("crypsis-spill-", base)
    connection = duckdb.connect(config={"temp_directory": str(folder.path)})
    weakref.finalize(connection, PrivateFolder.remove, folder)
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
    if memory_limit is not None:
        try:
            connection.execute(f"SET memory_limit = {literal(memory_limit)}")
        except duckdb.Error:
            raise ParameterError(
                f"The memory limit {memory_limit!r} is not understood; write it like '4GB'."
            ) from None
    return connection


def private_folder(prefix: str, base: Path | None = None) -> PrivateFolder:
    """A private folder for what does not fit in memory."""
    try:
        return PrivateFolder(prefix, base)
    except OSError as error:
        place = "for temporary files" if base is None else repr(str(base))
        raise ParameterError(
            f"The spill folder {place} cannot be written to ({error.strerror}). Name another one: "
            "spill_folder=... (--spill-folder), or TMPDIR."
        ) from None


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turn DuckDB's errors into ours; DuckDB's own text may quote data, so it is not passed on."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise TooLarge(
            f"{what}: the memory limit is not enough, even with spilling to disk. Raise "
            "memory_limit (--memory-limit 8GB), name a spill_folder (--spill-folder) with more "
            "room, or ask about fewer columns."
        ) from None
    except duckdb.ConversionException as error:
        raise SourceError(f"{what}: {_conversion(str(error))}") from None
    except duckdb.InterruptException:
        raise Cancelled(f"{what}: stopped on request.") from None
    except duckdb.IOException as error:
        text = str(error)
        reason = next((told for sign, told in _DISK.items() if sign in text), None)
        reason = reason or "a file cannot be read or written"
        raise SourceError(
            f"{what}: {reason}. Check that the source is whole and that the disk has room."
        ) from None
    except duckdb.InvalidInputException as error:
        raise SourceError(f"{what}: {csv_trouble(str(error))}") from None
    except RuntimeError as error:  # how DuckDB tells of Ctrl-C
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        if "conversion error" not in str(error):
            raise
        raise SourceError(f"{what}: a name or a text in it is not UTF-8.") from None
    except duckdb.Error as error:
        raise SourceError(f"{what}: DuckDB refused ({type(error).__name__}).") from None


def _conversion(text: str) -> str:
    wanted = re.search(r"to (?:')?(INT\w*|BIGINT|DOUBLE|DATE|TIMESTAMP)", text)
    kind = f" as {wanted[1].lower()}" if wanted else ""
    return (
        f"a value cannot be read{kind}, though the first rows could. Read that column as text: "
        "types={'name': 'text'} (--type name=text)."
    )


def csv_trouble(text: str) -> str:
    """What is wrong with a CSV file, told without its content."""
    line = re.search(r"CSV Error on Line: (\d+)", text)
    where = f"line {int(line[1]):,}" if line else "a line"
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if fields:
        return f"{where} has {fields[2]} fields; the header has {fields[1]}. Mend that line."
    if "unicode" in text or "not utf-8" in text:
        return (
            f"{where} is not in the encoding utf-8. Name the right one, for example "
            "encoding='latin-1' (--encoding latin-1)."
        )
    if "unterminated quote" in text:
        return f"{where} opens a quote that it does not close. Mend that line."
    if "Maximum line size" in text:
        return f"{where} is longer than 2 MB; this does not look like a table."
    if "state machine" in text:
        return "line endings or quotes are mixed. Save the file with one kind of line ending."
    return f"{where} cannot be read as a row of the table."


@contextmanager
def watched(connection: duckdb.DuckDBPyConnection | None, what: str) -> Iterator[None]:
    """Announce how far the running query is; a listener that says stop interrupts it."""
    if connection is None or not progress.listening():
        yield
        return
    over = threading.Event()
    trouble: list[BaseException] = []

    with progress.step(what, 100.0) as step:

        def poll() -> None:
            while not over.wait(_POLL_SECONDS):
                try:
                    step.reach(max(0.0, connection.query_progress()))
                except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
                    trouble.append(error)
                    connection.interrupt()
                    return

        watcher = threading.Thread(target=poll, daemon=True)
        watcher.start()
        try:
            yield
        except Cancelled:
            over.set()
            watcher.join()
            if trouble:
                raise trouble[0] from None
            raise
        finally:
            over.set()
            watcher.join()


class DuckBackend:
    """The thin part for DuckDB."""

    name = "duckdb"
    sketch_error = 1.04 / 1024**0.5  # HyperLogLog (Flajolet et al. 2007) with 1,024 registers
    most_values: int | None = None

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection | None = None,
        sources: Sources | None = None,
    ) -> None:
        self.connection = connection
        self.sources = Sources(()) if sources is None else sources

    def batches(
        self, frame: nw.LazyFrame[Any], what: str, rows: int | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Carry out `frame` and hand its rows over in Arrow batches."""
        with translated(what):
            with watched(self.connection, what):
                reader = frame.to_native().to_arrow_reader(rows or _BATCH_ROWS)
                first = next(reader, None)
            yield first if first is not None else arrow_files.no_rows(reader.schema)
            yield from reader
        self.sources.check()

    def bounded(
        self, frame: nw.LazyFrame[Any], what: str, at_most: int, refusal: TooLarge
    ) -> Iterator[pa.RecordBatch]:
        """The same, stopped at the first batch that is too much."""
        seen = 0
        for batch in self.batches(frame, what):
            seen += batch.num_rows
            if seen > at_most:
                raise refusal
            yield batch

    def sample(self, frame: nw.LazyFrame[Any], count: int, size: int, seed: int) -> pa.Table:
        """A few rows of many by DuckDB's reservoir, which reads no more of them than it must.

        Its draws from small tables are not even: there, and for larger samples, by random places.
        """
        if size > _FEW_ROWS or count < _MANY_ROWS:
            passing = self.batches(frame, "sampling", _PASSING)
            return at_random_places(passing, count, size, seed)
        drawn = f"USING SAMPLE reservoir({size} ROWS) REPEATABLE ({seed % 2**31})"
        native = frame.to_native().query("every", f"SELECT * FROM every {drawn}")
        return pa.Table.from_batches(list(self.batches(nw.from_native(native), "sampling")))

    def with_hash(
        self, frame: nw.LazyFrame[Any], key: str, seed: int, name: str
    ) -> nw.LazyFrame[Any]:
        """By MD5."""
        digest = f"md5({literal(f'{seed}:')} || CAST({quote(key)} AS VARCHAR))"
        text = f"CAST('0x' || substr({digest}, 1, 15) AS BIGINT)"
        hashed: nw.LazyFrame[Any] = nw.from_native(
            frame.to_native().project(f"*, {text} AS {name}")
        )
        return hashed

    def with_cell_hash(
        self, frame: nw.LazyFrame[Any], columns: Sequence[str], seed: int, name: str
    ) -> nw.LazyFrame[Any]:
        """By DuckDB's own hash."""
        text = f"hash({seed}, {', '.join(map(quote, columns))}) >> 4 AS {name}"
        hashed: nw.LazyFrame[Any] = nw.from_native(frame.to_native().project(f"*, {text}"))
        return hashed

    def sketch(self, frame: nw.LazyFrame[Any], sets: Sequence[Sequence[str]]) -> list[Sketch]:
        """Missing rows and HyperLogLog of all sets in one pass."""
        texts = ["count(*) AS n"]
        for i, columns in enumerate(sets):
            there = " AND ".join(f"{quote(c)} IS NOT NULL" for c in columns)
            value = quote(columns[0])
            if len(columns) > 1:
                value = f"CASE WHEN {there} THEN hash({', '.join(map(quote, columns))}) END"
            texts += [
                f"count(*) FILTER ({there}) AS t{i}",
                f"approx_count_distinct({value}) AS d{i}",
            ]
        row = self._row(frame, ", ".join(texts), "sketching columns")
        return [
            Sketch(row["n"], row["n"] - row[f"t{i}"], float(row[f"d{i}"]), self.sketch_error)
            for i in range(len(sets))
        ]

    def value_counts(
        self, frame: nw.LazyFrame[Any], columns: Sequence[str], at_most: int, refusal: TooLarge
    ) -> list[tuple[list[Any], list[int]]]:
        """A few columns by grouping sets; many batch by batch, which is faster here for them."""
        if len(columns) <= _FEW_COLUMNS:
            return self._grouped_values(frame, columns, at_most, refusal)
        counts: list[Counter[Any]] = [Counter() for _ in columns]
        for batch in self.batches(frame.select(*columns), "counting values"):
            for counter, column in zip(counts, batch.columns, strict=True):
                found = pc.value_counts(column)
                values, sizes = found.field("values").to_pylist(), found.field("counts").to_pylist()
                pairs = zip(values, sizes, strict=True)
                counter.update({v: n for v, n in pairs if v is not None and v == v})
            if sum(map(len, counts)) > at_most:
                raise refusal
        return [(list(counter), list(counter.values())) for counter in counts]

    def _grouped_values(
        self, frame: nw.LazyFrame[Any], columns: Sequence[str], at_most: int, refusal: TooLarge
    ) -> list[tuple[list[Any], list[int]]]:
        """Every column grouped by itself in one scan; in each answer one column is not blanked."""
        names = ", ".join(map(quote, columns))
        sets = ", ".join(f"({quote(column)})" for column in columns)
        asked = f"{names}, grouping({names}) AS blanked, count(*) AS n"
        grouped: nw.LazyFrame[Any] = nw.from_native(
            frame.to_native().aggregate(asked, f"GROUPING SETS ({sets})")
        )
        batches = self.bounded(grouped, "counting values", at_most, refusal)
        table = pa.Table.from_batches(list(batches))
        every = 2 ** len(columns) - 1
        found = []
        for k, column in enumerate(columns):
            own = pc.equal(table["blanked"], every - 2 ** (len(columns) - 1 - k))
            counted = table.filter(pc.and_(own, table[column].is_valid()))
            found.append((counted[column].to_pylist(), counted["n"].to_pylist()))
        return found

    def beside(self, frame: nw.LazyFrame[Any], table: pa.Table) -> nw.LazyFrame[Any]:
        """In our own connection; a relation the user brought runs SQL on its own for us."""
        if self.connection is not None:
            found = self.connection.from_arrow(table)
        else:
            parts = []
            for name, kind in zip(table.column_names, _sql_types(table), strict=True):
                values = ", ".join(
                    "NULL" if v is None else literal(str(v)) for v in table[name].to_pylist()
                )
                parts.append(f"CAST(unnest([{values}]) AS {kind}) AS {name}")
            found = frame.to_native().query("crypsis_rows", f"SELECT {', '.join(parts)}")
        small: nw.LazyFrame[Any] = nw.from_native(found)
        return small

    def quantiles(
        self, frame: nw.LazyFrame[Any], columns: Sequence[str], probabilities: Sequence[float]
    ) -> dict[str, pa.Array]:
        """All quantiles of all columns in one pass."""
        shares = ", ".join(repr(float(share)) for share in probabilities)
        texts = [f"quantile_disc({quote(c)}, [{shares}]) AS {quote(c)}" for c in columns]
        found: nw.LazyFrame[Any] = nw.from_native(frame.to_native().aggregate(", ".join(texts)))
        table = pa.Table.from_batches(list(self.batches(found, "quantiles")))
        return {column: table[column].combine_chunks().flatten() for column in columns}

    def named(self, frame: nw.LazyFrame[Any], names: Sequence[str]) -> Any:
        """A relation with the public names."""
        inner = frame.columns
        pairs = ", ".join(f"{quote(a)} AS {quote(b)}" for a, b in zip(inner, names, strict=True))
        return frame.to_native().project(pairs)

    def _row(self, frame: nw.LazyFrame[Any], aggregates: str, what: str) -> dict[str, Any]:
        """One row of aggregates."""
        found: nw.LazyFrame[Any] = nw.from_native(frame.to_native().aggregate(aggregates))
        row: dict[str, Any] = next(self.batches(found, what)).to_pylist()[0]
        return row

    def write(
        self, frame: nw.LazyFrame[Any], names: Sequence[str], path: Path | str, form: str
    ) -> None:
        """Write with DuckDB's own writers; by Arrow where DuckDB would rename columns."""
        path = Path(path)
        what = f"writing {path.name}"
        try:
            if len({name.lower() for name in names}) < len(names):
                arrow_files.write(self.batches(frame, what), names, path, form)
                return
            relation = self.named(frame, names)
            with translated(what), watched(self.connection, what):
                if form == "parquet":
                    relation.write_parquet(str(path), compression="zstd")
                else:
                    relation.write_csv(str(path), header=True)
            self.sources.check()
        except SourceError as error:
            raise OutputError(str(error)) from None


def _sql_types(table: pa.Table) -> list[str]:
    return [str(kind) for kind in duckdb.from_arrow(table.slice(0, 0)).types]
