"""From files and databases to `Rows`."""

from __future__ import annotations

import glob
import lzma
import shutil
import weakref
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.parquet

from crypsis.errors import ParameterError, SourceError
from crypsis.files import PrivateFolder, Sources
from crypsis.options import FORMATS, ReadOptions
from crypsis.tables import arrow_files, databases
from crypsis.tables.arrow import TableRows, plain
from crypsis.tables.backend import Frame
from crypsis.tables.contents import list_contents, list_titles
from crypsis.tables.csv import arrow_reader, duckdb_reader
from crypsis.tables.csv.dialect import Dialect, detect_dialect
from crypsis.tables.csv.files import PACKED, READ_BY_ENGINE, damaged, reason, short, size, stream
from crypsis.tables.duckdb.backend import DuckBackend
from crypsis.tables.duckdb.connection import connect, open_relation, private_folder, translated, watched
from crypsis.tables.formats import arrow_ipc, excel, lakes, statistical
from crypsis.tables.forms import FileForm, csv_form
from crypsis.tables.parquet.rows import parquet_rows
from crypsis.tables.paths import check_format, expanded, format_of, library_errors, local_files, remote_files
from crypsis.tables.rows import Rows
from crypsis.tables.schema import Kind, columns_of, inner_names, unique_names
from crypsis.tables.sql import file_list, literal, quote
from crypsis.tables.time_types import duration_columns, time_types

_IN_MEMORY: dict[str, Callable[[str, ReadOptions, Sequence[str]], tuple[pa.Table, Any]]] = {
    "excel": excel.read_sheet,
    "arrow": arrow_ipc.read_arrow,
    "stata": statistical.read_statistical,
    "spss": statistical.read_statistical,
    "sas": statistical.read_statistical,
    "delta": lakes.read_delta,
    "iceberg": lakes.read_iceberg,
}
"""Formats that are read at once; the second value is what the file has besides the values: the labels
of a statistical package, the schema of Arrow."""
_TYPED = ("parquet", "duckdb", "arrow")
"""Formats in which only floating-point numbers have several notations: minus zero, NaN."""
_KEPT_BYTES = 2_000_000_000
"""CSV up to this size is parsed once and kept, compressed, by DuckDB; larger is read each time."""


def open_source(
    source: str | Path,
    reading: ReadOptions,
    *,
    memory_limit: str | None = None,
    spill_folder: str | Path | None = None,
    max_rows: int | None = None,
    written: Sequence[str] = (),
) -> Rows:
    """Open a file, a folder of Parquet files, a glob, a remote file or a database.

    With `max_rows` a source with more rows is refused; a database while it is being copied. The
    columns `written` are as the file has them: see `Rows.written`.
    """
    settings = {"memory_limit": memory_limit, "spill_folder": spill_folder}
    opened = _opened(str(source), reading, settings, max_rows, written)
    if max_rows is not None and opened.count > max_rows:
        raise databases.too_many_rows(max_rows)
    return opened


def _opened(
    text: str, reading: ReadOptions, settings: dict[str, Any], max_rows: int | None, written: Sequence[str]
) -> Rows:
    if text.startswith(("postgresql://", "postgres://")):
        # Pickled as a table: no password.
        return _postgresql(text, reading, settings, max_rows, written)
    remote = connect(**settings) if "://" in text else None
    paths = local_files(text) if remote is None else remote_files(remote, text)
    address = text if remote is not None else str(expanded(text).absolute())
    sources = Sources(paths)
    form = reading.format or format_of(paths[0])
    for path in paths:
        check_format(path, form)
    if form == "sqlite":
        rows = _sqlite(paths[0], reading, settings, sources, max_rows, written)
        rows.form = FileForm("sqlite", table=reading.table)
    else:
        rows = _of_file(form, paths, text, reading, settings, remote, sources, max_rows, written)
    again = partial(open_source, address, reading, **settings)
    rows.reopen = partial(again, written=tuple(written))
    rows.written = lambda names: again(written=tuple(names))
    if form in _TYPED and not reading.missing_markers:
        rows.notations = [column.name for column in rows.columns if column.kind is Kind.NUMBER]
    rows.contents = partial(list_contents, form, paths, address, reading)
    rows.titles = partial(list_titles, form, paths, address, reading)
    return rows


def _of_file(
    form: str,
    paths: Sequence[str],
    text: str,
    reading: ReadOptions,
    settings: dict[str, Any],
    remote: duckdb.DuckDBPyConnection | None,
    sources: Sources,
    max_rows: int | None,
    written: Sequence[str],
) -> Rows:
    """The rows of a file of any format but SQLite."""
    dialect = None
    if form == "csv":
        types = {**reading.types, **dict.fromkeys(written, "text")}
        dialect = detect_dialect(paths, replace(reading, types=types))
    if dialect is not None and remote is None and not (any(settings.values()) or written):
        table = _plain(dialect, reading)
        if table is not None:
            sources.settle()
            rows = TableRows(table, dialect.names, sources)
            rows.form = csv_form(dialect, {})
            return rows
    connection = remote or connect(**settings)
    if dialect is not None:
        return _csv(connection, dialect, reading, sources, written)
    typed = _typed(connection, form, paths, text, reading, settings, sources, max_rows, written)
    read_otherwise = written or reading.missing_markers or settings["memory_limit"]
    if form != "parquet" or remote is not None or read_otherwise or _partitioned(paths, text):
        return typed
    return parquet_rows(typed, paths, sources)


def _plain(dialect: Dialect, reading: ReadOptions) -> pa.Table | None:
    """A CSV file that is not large as a table in memory, if it is a plain one."""
    if reading.types or size(dialect.paths) >= duckdb_reader.SMALL_FILE_BYTES:
        return None
    table = arrow_reader.read_plain(dialect)
    return None if table is None else plain(table)


def _csv(
    connection: duckdb.DuckDBPyConnection,
    dialect: Dialect,
    reading: ReadOptions,
    sources: Sources,
    written: Sequence[str],
) -> Rows:
    """A CSV file by DuckDB; one of medium size is parsed by the first question and kept."""
    sql, notations = duckdb_reader.open_csv(
        connection, dialect, {**reading.types, **dict.fromkeys(written, "text")}, written
    )
    bytes_read = size(dialect.paths)
    small = bytes_read < duckdb_reader.SMALL_FILE_BYTES
    if small:
        sources.settle()
    rows = _rows_of(connection, sql, dialect.names, (), sources=sources)
    rows.form = csv_form(dialect, notations)
    if small or bytes_read >= _KEPT_BYTES:
        return rows
    lazy = rows.frame

    def load() -> Frame:
        with translated("reading the file"), watched(connection, "reading the file"):
            lazy.to_native().create("kept")
        sources.settle()
        opened: Frame = nw.from_native(connection.table("kept"))
        return opened

    kept = Rows(rows.columns, load, rows.backend)
    kept.form = rows.form
    return kept


def _typed(
    connection: duckdb.DuckDBPyConnection,
    form: str,
    paths: Sequence[str],
    address: str,
    reading: ReadOptions,
    settings: dict[str, Any],
    sources: Sources,
    max_rows: int | None,
    written: Sequence[str],
) -> Rows:
    """A file whose format has column types."""
    row_count, labels, computed = None, None, False
    times: dict[str, pa.DataType] = {}
    if form == "duckdb":
        sql, names, computed = databases.attach_duckdb(
            connection, paths[0], reading, max_rows, settings["memory_limit"]
        )
    elif form == "parquet":
        sql, names, row_count, times = _parquet(connection, paths, address, reading)
    elif form == "json":
        sql, names = _json(connection, paths, reading, written)
    elif form in _IN_MEMORY:
        with library_errors(paths[0]):
            table, more = _IN_MEMORY[form](paths[0], reading, written)
        labels, times = (None, time_types(more)) if form == "arrow" else (more, {})
        names = table.column_names
        with translated(repr(Path(paths[0]).name)):
            connection.register("source", table.rename_columns(inner_names(len(names))))
        sources.settle()
        sql = "SELECT * FROM source"
    else:
        raise ParameterError(
            f"Format {form!r} is read by Spark only. Other formats are: {', '.join(FORMATS)}.",
            parameter="format",
        )
    markers = tuple(reading.missing_markers or ())
    rows = _rows_of(connection, sql, names, markers, row_count, sources, written, duration_columns(times))
    _check_rows(rows, repr(Path(paths[0]).name))
    rows.computed = computed
    rows.form = FileForm(form, labels=labels, table=reading.table, times=times)
    return rows


def _check_rows(rows: Rows, what: str) -> None:
    """Refuse a table without rows; no value is fetched, because some types cannot be."""
    with translated(what):
        if not rows.frame.to_native().limit(1).project("1").fetchall():
            raise SourceError(f"{what} has no rows.", code="no-rows")


def _rows_of(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    names: Sequence[str],
    markers: Sequence[str],
    row_count: int | None = None,
    sources: Sources | None = None,
    written: Sequence[str] = (),
    durations: Collection[str] = (),
) -> Rows:
    """The rows of a query, `row_count` many; and which are durations."""
    raw = [inner for inner, name in zip(inner_names(len(names)), names, strict=True) if name in written]
    lazy = open_relation(connection, sql, len(names), markers, raw)
    columns = columns_of(lazy, unique_names(list(names)), durations)
    return Rows(columns, lambda: lazy, DuckBackend(connection, sources), row_count)


def open_spilled(names: Sequence[str], parts: Iterable[pa.Table]) -> Rows:
    """Rows in a private Parquet file, which is removed with them."""
    folder = private_folder("crypsis-spill-")
    path = folder.path / "rows.parquet"
    try:
        batches = (batch for part in parts for batch in arrow_files.batches_of(part))
        arrow_files.write(batches, names, path, "parquet")
    except pa.ArrowNotImplementedError:
        raise SourceError(
            "A column has a type that Parquet does not have, so the rows cannot be spilled to disk.",
            code="not-in-parquet",
            hint="Exclude that column.",
        ) from None
    rows = open_source(path, ReadOptions(format="parquet"))
    rows.reopen = rows.written = rows.contents = rows.titles = None  # the file is private to this process
    weakref.finalize(rows.backend, PrivateFolder.remove, folder)
    return rows


def _sqlite(
    path: str,
    reading: ReadOptions,
    settings: dict[str, Any],
    sources: Sources,
    max_rows: int | None,
    written: Sequence[str],
) -> Rows:
    connection = connect(**settings)
    with library_errors(path):
        names, computed = databases.copy_sqlite(
            connection, path, reading, written, max_rows, settings["memory_limit"]
        )
    sources.settle()
    rows = _copied(connection, names, reading, sources, written)
    rows.computed = computed
    return rows


def _postgresql(
    uri: str, reading: ReadOptions, settings: dict[str, Any], max_rows: int | None, written: Sequence[str]
) -> Rows:
    source = databases.AdbcSource(uri, "postgresql", reading, written)
    connection = connect(**settings)
    source.copy_into(connection, "source", max_rows)
    return _copied(connection, source.names, reading, None, written)


def _copied(
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    reading: ReadOptions,
    sources: Sources | None,
    written: Sequence[str],
) -> Rows:
    """The rows that were copied from a database."""
    markers = tuple(reading.missing_markers or ())
    rows = _rows_of(connection, "SELECT * FROM source", unique_names(names), markers, None, sources, written)
    _check_rows(rows, "The table")
    return rows


def _parquet(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[str], address: str, reading: ReadOptions
) -> tuple[str, list[str], int, dict[str, pa.DataType]]:
    reading.check_supported("Parquet", ())
    files = file_list(paths)
    hive = "true" if _partitioned(paths, address) else "false"
    sql = f"SELECT * FROM read_parquet({files}, hive_partitioning = {hive})"
    with translated(repr(Path(paths[0]).name)):
        names = list(connection.sql(sql).columns)
        counted = connection.sql(f"SELECT count(*) FROM read_parquet({files})").fetchall()
    times: dict[str, pa.DataType] = {}
    if Path(paths[0]).is_file():  # DuckDB renames columns that differ only in capitals
        try:
            schema = pyarrow.parquet.read_schema(paths[0])
        except (pa.ArrowException, OSError):  # files that DuckDB reads and Arrow does not
            schema = pa.schema([])
        names[: len(schema)] = schema.names
        times = time_types(schema)
    return sql, names, int(counted[0][0]), times  # by the footers


def _partitioned(paths: Sequence[str], address: str) -> bool:
    """Whether folders below the one asked for, or below the signs of a glob, name a value."""
    if len(paths) == 1 and Path(paths[0]) == expanded(address):
        return False
    root = expanded(address)
    while glob.has_magic(str(root)) and not root.is_dir():
        root = root.parent
    folders = [Path(path).parent for path in paths]
    below = [folder.relative_to(root) for folder in folders if folder.is_relative_to(root)]
    return any("=" in part for folder in below for part in folder.parts)


def _json(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[str], reading: ReadOptions, written: Sequence[str]
) -> tuple[str, list[str]]:
    reading.check_supported("JSON", ())
    named, paths = short(paths[0]), [_unpacked(connection, path) for path in paths]
    # Of all lines: a key that only later ones have is a column, too.
    sql = f"SELECT * FROM read_json({file_list(paths)}, sample_size = -1)"
    with translated(named):
        relation = connection.sql(sql)
        names, types = list(relation.columns), list(map(str, relation.types))
        if not written:
            return sql, names
        kinds = ["JSON" if n in written else k for n, k in zip(names, types, strict=True)]
        parts = ", ".join(f"{literal(n)}: {literal(k)}" for n, k in zip(names, kinds, strict=True))
        texts = ", ".join(
            f"nullif(CAST({quote(name)} AS VARCHAR), 'null')" if name in written else quote(name)
            for name in names
        )
        return f"SELECT {texts} FROM read_json({file_list(paths)}, columns = {{{parts}}})", names


def _unpacked(connection: duckdb.DuckDBPyConnection, path: str) -> str:
    """A file as DuckDB can read it: of one whose compression it does not know, a private copy."""
    if not path.lower().endswith(PACKED) or path.lower().endswith(READ_BY_ENGINE):
        return path
    folder = private_folder("crypsis-unpacked-")
    weakref.finalize(connection, PrivateFolder.remove, folder)
    copy = folder.path / "table.json"
    try:
        with stream(path) as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
    except (lzma.LZMAError, EOFError):
        raise damaged(path) from None
    except OSError as error:
        if error.strerror is None:
            raise damaged(path) from None
        raise SourceError(f"{short(path)} could not be read ({reason(error)}).") from None
    return str(copy)
