"""DuckDB: the engine for rows on one machine."""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import pyarrow as pa

from crypsis import progress
from crypsis.engine import arrow_files
from crypsis.errors import Cancelled, OutputError, ParameterError, SourceError, TooLarge

_BATCH_ROWS = 131_072
_POLL_SECONDS = 0.2


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
    if spill_folder is None:
        folder = Path(tempfile.mkdtemp(prefix="crypsis-spill-"))
    else:
        base = Path(spill_folder)
        if not base.is_dir():
            raise ParameterError(f"The spill folder {str(base)!r} is not a folder; make it first.")
        try:
            folder = Path(tempfile.mkdtemp(prefix="crypsis-spill-", dir=base))
        except OSError as error:
            raise ParameterError(
                f"The spill folder {str(base)!r} cannot be written to ({error.strerror})."
            ) from None
    connection = duckdb.connect(config={"temp_directory": str(folder)})
    weakref.finalize(connection, shutil.rmtree, folder, ignore_errors=True)
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
        reason = "the disk is full" if "No space" in str(error) else "a file cannot be read"
        raise SourceError(
            f"{what}: {reason}. Check that the source is whole and that the disk has room."
        ) from None
    except duckdb.InvalidInputException as error:
        raise SourceError(f"{what}: {csv_trouble(str(error))}") from None
    except RuntimeError as error:  # how DuckDB tells of Ctrl-C
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise
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

    def __init__(self, connection: duckdb.DuckDBPyConnection | None = None) -> None:
        self.connection = connection

    def batches(self, frame: nw.LazyFrame[Any], what: str) -> Iterator[pa.RecordBatch]:
        """Carry out `frame` and hand its rows over in Arrow batches."""
        with translated(what):
            with watched(self.connection, what):
                reader = frame.to_native().to_arrow_reader(_BATCH_ROWS)
                first = next(reader, None)
            yield first if first is not None else arrow_files.no_rows(reader.schema)
            yield from reader

    def with_hash(
        self, frame: nw.LazyFrame[Any], key: str | None, seed: int, name: str
    ) -> nw.LazyFrame[Any]:
        """By MD5 with a key; without one by DuckDB's own hash of the row's place."""
        if key is None:
            text = f"hash(row_number() OVER () * 1000003 + {seed}) >> 4"
        else:
            digest = f"md5({literal(f'{seed}:')} || CAST({quote(key)} AS VARCHAR))"
            text = f"CAST('0x' || substr({digest}, 1, 15) AS BIGINT)"
        hashed: nw.LazyFrame[Any] = nw.from_native(
            frame.to_native().project(f"*, {text} AS {name}")
        )
        return hashed

    def quantiles(
        self, frame: nw.LazyFrame[Any], columns: Sequence[str], probabilities: Sequence[float]
    ) -> dict[str, pa.Array]:
        """All quantiles of all columns in one pass."""
        shares = ", ".join(repr(float(share)) for share in probabilities)
        texts = [f"quantile_disc({quote(c)}, [{shares}]) AS {quote(c)}" for c in columns]
        with translated("quantiles"), watched(self.connection, "quantiles"):
            table = frame.to_native().aggregate(", ".join(texts)).to_arrow_table()
        return {column: table[column].combine_chunks().flatten() for column in columns}

    def named(self, frame: nw.LazyFrame[Any], names: Sequence[str]) -> Any:
        """A relation with the public names."""
        inner = frame.columns
        pairs = ", ".join(f"{quote(a)} AS {quote(b)}" for a, b in zip(inner, names, strict=True))
        return frame.to_native().project(pairs)

    def write(self, frame: nw.LazyFrame[Any], names: Sequence[str], path: Path, form: str) -> None:
        """Write with DuckDB's own writers; by Arrow where DuckDB would rename columns."""
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
        except SourceError as error:
            raise OutputError(str(error)) from None
