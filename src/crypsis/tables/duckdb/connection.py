"""Connections to DuckDB: private, with errors and progress in our own terms."""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw

from crypsis import progress
from crypsis.errors import CancelledError, ParameterError, SourceError, TooLargeError
from crypsis.files import PrivateFolder
from crypsis.tables.csv.files import ENCODING_HINT
from crypsis.tables.schema import inner_names
from crypsis.tables.sql import literal, without_markers
from crypsis.threads import thread_count, thread_limit

_POLL_SECONDS = 0.2
"""The time between two reports of progress."""
_AS_TEXT = ("UUID", "BIT", "INTERVAL", "ENUM", "TIME WITH TIME ZONE", "TIME_NS", '"NULL"')
_IN_MICROSECONDS = {"TIME_NS": "TIME", "TIMESTAMPTZ_NS": "TIMESTAMPTZ"}
"""Types of nanoseconds that frames do not have, and those that they have."""
_DISK = {
    "No space": "the disk is full",
    "File too large": "a file may not grow that large here (ulimit -f)",
    "quota": "the disk quota is used up",
    "Too many open files": "too many files are open (ulimit -n)",
}
_DAMAGED_PARQUET = re.compile(
    "Parquet|Footer length|ecompress|Protocol|orrupt|Failed to read file|TType|what type|of buffer"
)


_NO_EXTENSIONS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
_SEALED = ("SET enable_external_access = false", "SET lock_configuration = true")


def connect(
    *, memory_limit: str | None = None, spill_folder: str | Path | None = None
) -> duckdb.DuckDBPyConnection:
    """A private in-memory database that spills to a private folder."""
    base = None if spill_folder is None else Path(spill_folder)
    if base is not None and not base.is_dir():
        raise ParameterError(
            f"Spill folder {str(base)!r} does not exist or is not a folder.",
            code="no-folder",
            parameter="spill_folder",
        )
    folder = private_folder("crypsis-spill-", base)
    connection = duckdb.connect(config=_config(folder))
    weakref.finalize(connection, PrivateFolder.remove, folder)
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
    if memory_limit is not None:
        try:
            connection.execute(f"SET memory_limit = {literal(memory_limit)}")
        except duckdb.Error:
            raise ParameterError(
                f"Memory limit {memory_limit!r} is not a valid size.",
                parameter="memory_limit",
                hint="Set {memory_limit=4GB}.",
            ) from None
    return connection


def _config(folder: PrivateFolder) -> dict[str, Any]:
    """Settings of every instance: where it spills, no extensions, how many threads."""
    config: dict[str, Any] = {"temp_directory": str(folder.path), **_NO_EXTENSIONS}
    limit = thread_limit()
    return config if limit is None else {**config, "threads": thread_count()}


def connect_sealed(path: str, folder: Path, memory_limit: str) -> duckdb.DuckDBPyConnection:
    """A database file in an instance of its own, which reads nothing else and spills to `folder`.

    Macros of the file may be called there in place of built-in functions, so only what the file
    itself or its owner asks for is run in it, never a query of ours.
    """
    config = {"temp_directory": str(folder), "memory_limit": memory_limit, **_NO_EXTENSIONS}
    connection = duckdb.connect(path, read_only=True, config={**config, "threads": 1})
    for setting in _SEALED:
        connection.execute(setting)
    return connection


def private_folder(prefix: str, base: Path | None = None) -> PrivateFolder:
    """A private folder for what does not fit in memory."""
    try:
        return PrivateFolder(prefix, base)
    except OSError as error:
        purpose = "for temporary files" if base is None else repr(str(base))
        raise ParameterError(
            f"The spill folder {purpose} is not writable ({error.strerror}).",
            parameter="spill_folder",
            hint="Set {spill_folder} to another folder, or the variable TMPDIR.",
        ) from None


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turn DuckDB's errors into ours; DuckDB's own text may quote data, so it is not passed on."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise TooLargeError(
            f"{what}: the memory limit is too low, even with spilling to disk.",
            code="out-of-memory",
            hint="Set {memory_limit=8GB}, set {spill_folder} to a folder with more space, or use "
            "fewer columns.",
        ) from None
    except duckdb.ConversionException as error:
        raise _conversion_error(what, str(error)) from None
    except duckdb.InterruptException:
        raise CancelledError(f"{what}: cancelled.") from None
    except duckdb.IOException as error:
        raise _disk_error(what, str(error)) from None
    except duckdb.PermissionException:
        raise SourceError(
            f"{what}: it reads or writes other files, which is not allowed.", code="other-files"
        ) from None
    except duckdb.InvalidInputException as error:
        raise _file_error(what, str(error)) from None
    except RuntimeError as error:  # how DuckDB reports Ctrl-C
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        if "conversion error" not in str(error):
            raise
        raise SourceError(f"{what}: a name or a text in it is not UTF-8.") from None
    except duckdb.Error as error:
        if _DAMAGED_PARQUET.search(str(error)):
            raise _file_error(what, str(error)) from None
        if any(sign in str(error) for sign in _DISK):  # the end of a transaction
            raise _disk_error(what, str(error)) from None
        raise SourceError(f"{what}: DuckDB refused ({type(error).__name__}).") from None


def _disk_error(what: str, text: str) -> SourceError:
    reasons = (reason for sign, reason in _DISK.items() if sign in text)
    return SourceError(
        f"{what}: {next(reasons, 'a file could not be read or written')}.",
        code="disk",
        hint="Check that the source is complete and that the disk has space.",
    )


def _conversion_error(what: str, text: str) -> SourceError:
    wanted = re.search(r"to (?:')?(INT\w*|BIGINT|DOUBLE|DATE|TIMESTAMP)", text)
    kind = f" as {wanted[1].lower()}" if wanted else ""
    return SourceError(
        f"{what}: a value could not be read{kind}, although the first rows could.",
        code="column-type",
        hint="Set {types} to read that column as text.",
    )


def _file_error(what: str, text: str) -> SourceError:
    """What is wrong with a file, without its content."""
    line = re.search(r"CSV Error on Line: (\d+)", text)
    where = f"line {int(line[1]):,}" if line else "a line"
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    fault, hint = "its values could not be computed or read", "Export the table anew."
    if "CSV" in text:
        fault = f"{where} could not be read as a row of the table"
        hint = "Set {delimiter} or fix the file."
    if fields:
        noun = "field" if fields[2] == "1" else "fields"
        fault = f"{where} has {fields[2]} {noun}; the header has {fields[1]}"
        hint = "Fix that line."
    elif "unicode" in text or "not utf-8" in text:
        fault, hint = f"{where} is not in the encoding utf-8", ENCODING_HINT
    elif "exceeds maximum recursion depth" in text:
        fault, hint = "its JSON is nested too deeply", "Write one object of plain values a line."
    elif "is encrypted, but" in text:
        fault, hint = "the file is encrypted", "Write it without encryption."
    elif "Malformed JSON" in text:
        fault, hint = "it is not JSON, or damaged", "Set {format} if the file is of another kind."
    elif "No magic bytes found at end" in text:
        fault, hint = "the end of the Parquet file is missing", "Copy the file anew."
    elif "Invalid string encoding found in Parquet" in text:
        fault, hint = "a text in the Parquet file is not UTF-8", "Write it as binary, or as UTF-8."
    elif _DAMAGED_PARQUET.search(text):
        fault, hint = "the Parquet file is damaged", "Copy the file anew."
    elif "unterminated quote" in text:
        fault, hint = f"{where} has a quote that is not closed", "Fix that line."
    elif "Maximum line size" in text:
        fault = f"{where} is longer than 2 MB, so the file is probably not a table"
    elif "state machine" in text:
        fault, hint = "line ends or quotes are mixed", "Save the file with one kind of line end."
    return SourceError(f"{what}: {fault}.", code="csv", hint=hint)


@contextmanager
def watched(connection: duckdb.DuckDBPyConnection | None, what: str) -> Iterator[None]:
    """Report the progress of the running query; a listener that raises interrupts it."""
    if connection is None or not progress.listening():
        yield
        return
    over = threading.Event()
    raised: list[BaseException] = []

    with progress.step(what, 100.0) as step:

        def poll() -> None:
            while not over.wait(_POLL_SECONDS):
                try:
                    step.reach(max(0.0, connection.query_progress()))
                except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
                    raised.append(error)
                    connection.interrupt()
                    return

        watcher = threading.Thread(target=poll, daemon=True)
        watcher.start()
        try:
            yield
        except CancelledError:
            over.set()
            watcher.join()
            if raised:
                raise raised[0] from None
            raise
        finally:
            over.set()
            watcher.join()


def open_relation(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    width: int,
    markers: Sequence[str] = (),
    written: Collection[str] = (),
) -> nw.LazyFrame[Any]:
    """A query of `width` columns as a frame: columns c0, c1, ..., markers as missing values.

    The columns `written` are as the source has them: without markers, numbers as their texts.
    """
    with translated("opening the source"):
        inner = ", ".join(inner_names(width))
        relation = connection.sql(f"SELECT * FROM ({sql}) AS t({inner})")
        return plain_frame(relation, markers, written)


def plain_frame(
    relation: Any, markers: Sequence[str] = (), written: Collection[str] = ()
) -> nw.LazyFrame[Any]:
    """A relation as a frame whose types Arrow has: others as text, markers as missing values."""
    columns = []
    for name, kind in zip(relation.columns, map(str, relation.types), strict=True):
        if name in written and kind in ("FLOAT", "DOUBLE"):  # NaN, minus zero
            columns.append(f"CAST({name} AS VARCHAR) AS {name}")
        elif name in written and kind == "VARCHAR":
            columns.append(name)
        elif kind in _IN_MICROSECONDS and _exact(relation, name, kind):
            columns.append(f"CAST({name} AS {_IN_MICROSECONDS[kind]}) AS {name}")
        elif kind == "TIMESTAMPTZ_NS":  # the instants, in UTC
            columns.append(f"CAST({name} AS TIMESTAMP_NS) AS {name}")
        elif kind.startswith(_AS_TEXT):
            columns.append(f"CAST({name} AS VARCHAR) AS {name}")
        elif kind == "VARCHAR" and markers:
            marked = without_markers(f"trim({name})", markers)
            columns.append(f"CASE WHEN {marked} IS NULL THEN NULL ELSE {name} END AS {name}")
        else:
            columns.append(name)
    frame: nw.LazyFrame[Any] = nw.from_native(relation.project(", ".join(columns)))
    return frame


def _exact(relation: Any, name: str, kind: str) -> bool:
    """Whether times need no more digits than microseconds have; one scan of the column."""
    there_and_back = f"CAST(CAST({name} AS {_IN_MICROSECONDS[kind]}) AS {kind})"
    return not relation.filter(f"{there_and_back} <> {name}").limit(1).project("1").fetchall()
