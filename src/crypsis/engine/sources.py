"""From files and databases to `Rows`."""

from __future__ import annotations

import glob
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.parquet

from crypsis.engine import databases, delimited, duck, excel, memory, plain_csv
from crypsis.engine.base import columns_of
from crypsis.engine.duck import DuckBackend, inner_names, literal
from crypsis.engine.frames import Rows
from crypsis.engine.layout import Layout, laid_out, size, unique_names
from crypsis.engine.memory import TableRows
from crypsis.engine.reading import Reading
from crypsis.errors import MissingPart, ParameterError, SourceError
from crypsis.files import Sources

_SUFFIXES = {
    "csv": (".csv", ".tsv", ".txt", ".data"),
    "parquet": (".parquet", ".pq"),
    "json": (".json", ".jsonl", ".ndjson"),
    "excel": (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    "duckdb": (".duckdb", ".ddb"),
    "sqlite": (".sqlite", ".sqlite3"),
}
_MAGIC = (
    ("parquet", 0, b"PAR1"),
    ("sqlite", 0, b"SQLite format 3\0"),
    ("duckdb", 8, b"DUCK"),
)
_KEPT_BYTES = 2_000_000_000
"""CSV up to this size is parsed once and kept, compressed, by DuckDB; larger is read each time."""
_AS_TEXT = ("UUID", "BIT", "INTERVAL", "ENUM", "TIME WITH TIME ZONE", "TIME_NS")


def open_source(
    source: str | Path,
    reading: Reading,
    *,
    memory_limit: str | None = None,
    spill_folder: str | Path | None = None,
) -> Rows:
    """Open a file, a folder of Parquet files, a glob, a remote file or a database."""
    text = str(source)
    settings = {"memory_limit": memory_limit, "spill_folder": spill_folder}
    if text.startswith(("postgresql://", "postgres://")):
        return _adbc(text, "postgresql", reading, settings)
    remote = duck.connect(**settings) if "://" in text else None  # type: ignore[arg-type]
    paths = _local(text) if remote is None else _remote(remote, text)
    sources = Sources(paths)
    form = reading.format or _format(paths[0])
    if form == "sqlite":
        return _adbc(f"file:{paths[0]}?mode=ro", "sqlite", reading, settings, sources)
    layout = laid_out(paths, reading) if form == "csv" else None
    if layout is not None and remote is None and not (memory_limit or spill_folder):
        table = _plain(layout, reading)
        if table is not None:
            sources.settle()
            return TableRows(table, layout.names, sources)
    connection = remote or duck.connect(**settings)  # type: ignore[arg-type]
    if layout is not None:
        sql = delimited.open_csv(connection, layout, reading.types)
        large = size(paths) >= delimited.WHOLE_FILE_BYTES
        if not large:
            sources.settle()
        keep = large and size(paths) < _KEPT_BYTES
        return rows_of(connection, sql, layout.names, (), keep=keep, sources=sources)
    if form == "duckdb":
        sql, names = databases.attach_duckdb(connection, paths[0], reading)
    elif form == "parquet":
        sql, names = _parquet(connection, paths, text, reading)
    elif form == "json":
        sql, names = _json(connection, paths, reading)
    elif form == "excel":
        table = excel.read_sheet(paths[0], reading)
        names = table.column_names
        connection.register("source", table.rename_columns(inner_names(len(names))))
        sources.settle()
        sql = "SELECT * FROM source"
    else:
        raise ParameterError(f"Unknown format {form!r}; the formats are: {', '.join(_SUFFIXES)}.")
    known = _parquet_count(connection, paths) if form == "parquet" else None
    markers = tuple(reading.missing_markers or ())
    rows = rows_of(connection, sql, names, markers, known=known, sources=sources)
    _check_rows(rows, repr(Path(paths[0]).name))
    return rows


def _plain(layout: Layout, reading: Reading) -> pa.Table | None:
    """A file that is not large as a table in memory, if it is a plain one."""
    if reading.types or size(layout.paths) >= delimited.WHOLE_FILE_BYTES:
        return None
    table = plain_csv.read_plain(layout)
    return None if table is None else memory.plain(table)


def _check_rows(rows: Rows, what: str) -> None:
    """Refuse a table without rows; no value is fetched, for some kinds cannot be."""
    with duck.translated(what):
        if not rows.frame.to_native().limit(1).project("1").fetchall():
            raise SourceError(f"{what} has no rows.")


def rows_of(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    names: Sequence[str],
    missing: Sequence[str],
    *,
    keep: bool = False,
    known: int | None = None,
    sources: Sources | None = None,
) -> Rows:
    """Rows from SQL, `known` many; with `keep` parsed once, at the first question, into a table."""
    inner = ", ".join(inner_names(len(names)))
    with duck.translated("opening the source"):
        relation = connection.sql(f"SELECT * FROM ({sql}) AS t({inner})")
        relation = relation.project(", ".join(plain_columns(relation, missing)))
    lazy: nw.LazyFrame[Any] = nw.from_native(relation)
    unique = unique_names(list(names))

    def load() -> nw.LazyFrame[Any]:
        if not keep:
            return lazy
        with duck.translated("reading the file"), duck.watched(connection, "reading the file"):
            relation.create("kept")
        if sources is not None:
            sources.settle()
        kept: nw.LazyFrame[Any] = nw.from_native(connection.table("kept"))
        return kept

    return Rows(columns_of(lazy, unique), load, DuckBackend(connection, sources), known)


def plain_columns(relation: duckdb.DuckDBPyRelation, missing: Sequence[str]) -> list[str]:
    """Each column as a type that travels: exotic ones as text, marked texts as missing."""
    columns = []
    for name, kind in zip(relation.columns, relation.types, strict=True):
        text = str(kind)
        if text.startswith(_AS_TEXT):
            columns.append(f"CAST({name} AS VARCHAR) AS {name}")
        elif text == "VARCHAR" and missing:
            marked = delimited.without_markers(f"trim({name})", missing)
            columns.append(f"CASE WHEN {marked} IS NULL THEN NULL ELSE {name} END AS {name}")
        else:
            columns.append(name)
    return columns


def _adbc(
    uri: str,
    driver: str,
    reading: Reading,
    settings: dict[str, Any],
    sources: Sources | None = None,
) -> Rows:
    source = databases.AdbcSource(uri, driver, reading)
    names = unique_names(source.names)
    connection = duck.connect(**settings)
    source.copy_into(connection, "source")
    if sources is not None:
        sources.settle()
    markers = tuple(reading.missing_markers or ())
    rows = rows_of(connection, "SELECT * FROM source", names, markers, sources=sources)
    _check_rows(rows, "The table")
    return rows


def _local(text: str) -> list[str]:
    path = Path(text).expanduser()
    try:
        text.encode()
        mode = path.stat().st_mode if text else 0
    except UnicodeEncodeError:
        raise SourceError(f"The name {text!r} is not UTF-8; rename the file.") from None
    except (FileNotFoundError, NotADirectoryError, ValueError):
        mode = 0
    except OSError as error:
        raise SourceError(f"There is no file {text!r} to read ({error.strerror}).") from None
    if stat.S_ISDIR(mode):
        files = sorted(str(file) for file in path.rglob("*.parquet") if file.is_file())
        if not files:
            raise SourceError(f"{text!r} is a folder without Parquet files; name a file.")
        return files
    files = [str(path)] if mode else []
    if not files and glob.has_magic(text):
        files = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207
    if not files:
        raise SourceError(f"There is no file {text!r}.")
    for file in files:
        _check_readable(file)
    return files


def _check_readable(path: str) -> None:
    """Refuse what would block, never end, or say nothing: pipes, devices, empty files."""
    if not Path(path).is_file():
        raise SourceError(f"{path!r} is not a regular file.")
    try:
        with Path(path).open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise SourceError(f"{path!r} cannot be read ({error.strerror}).") from None
    if empty:
        raise SourceError(f"{path!r} is empty.")


def _remote(connection: duckdb.DuckDBPyConnection, text: str) -> list[str]:
    """Remote files through fsspec, which knows s3, gs, abfs, http and others."""
    try:
        import fsspec
    except ImportError:
        raise MissingPart("Reading remote files needs: pip install 'crypsis[cloud]'") from None
    protocol = text.split("://", 1)[0]
    try:
        files = fsspec.filesystem(protocol)
    except (ImportError, ValueError):
        raise MissingPart(
            f"No part that reads {protocol}:// is installed; fsspec names it in its documentation."
        ) from None
    connection.register_filesystem(files)
    if not (glob.has_magic(text) or files.exists(text)):
        raise SourceError(f"There is no file {text!r}.")
    return [text]


def _format(path: str) -> str:
    """By the name, then by the first bytes; what says nothing of itself is taken for CSV."""
    name = path.lower().removesuffix(".gz").removesuffix(".zst")
    for form, suffixes in _SUFFIXES.items():
        if name.endswith(suffixes):
            return form
    if Path(path).is_file():
        with Path(path).open("rb") as file:
            start = file.read(16)
        for form, offset, magic in _MAGIC:
            if start[offset:].startswith(magic):
                return form
        if start.startswith(b"PK\x03\x04"):
            raise SourceError(f"{Path(path).name!r} is a zip archive; unpack it first.")
    return "csv"


def _parquet(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[str], asked: str, reading: Reading
) -> tuple[str, list[str]]:
    reading.only("Parquet", ())
    files = ", ".join(literal(path) for path in paths)
    hive = "true" if Path(asked).is_dir() else "false"
    sql = f"SELECT * FROM read_parquet([{files}], hive_partitioning = {hive})"
    with duck.translated(repr(Path(paths[0]).name)):
        names = list(connection.sql(sql).columns)
    if Path(paths[0]).is_file():  # DuckDB renames columns that differ only in capitals
        try:
            own = pyarrow.parquet.read_schema(paths[0]).names
        except (pa.ArrowException, OSError):  # what DuckDB reads and Arrow does not
            own = []
        names[: len(own)] = own
    return sql, names


def _parquet_count(connection: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> int:
    """The rows of Parquet files, by their footers."""
    files = ", ".join(literal(path) for path in paths)
    sql = f"SELECT count(*) FROM read_parquet([{files}])"
    with duck.translated(repr(Path(paths[0]).name)):
        return int(connection.sql(sql).fetchall()[0][0])


def _json(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[str], reading: Reading
) -> tuple[str, list[str]]:
    reading.only("JSON", ())
    files = ", ".join(literal(path) for path in paths)
    sql = f"SELECT * FROM read_json([{files}])"
    with duck.translated(repr(Path(paths[0]).name)):
        return sql, list(connection.sql(sql).columns)
