"""From whatever the user has to `Rows`: files, databases, frames."""

from __future__ import annotations

import glob
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.parquet
from narwhals.exceptions import DuplicateError

from crypsis.engine import databases, delimited, duck, excel, memory
from crypsis.engine.base import columns_of
from crypsis.engine.duck import DuckBackend, inner_names, literal, quote
from crypsis.engine.frames import Rows
from crypsis.engine.reading import Reading
from crypsis.errors import ColumnError, InputError, MissingPart, ParameterError, SourceError
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
    connection = duck.connect(**settings)  # type: ignore[arg-type]
    paths = _remote(connection, text) if "://" in text else _local(text)
    sources = Sources(paths)
    form = reading.format or _format(paths[0])
    if form == "sqlite":
        return _adbc(f"file:{paths[0]}?mode=ro", "sqlite", reading, settings, sources)
    if form == "csv":
        sql, names = delimited.open_csv(connection, paths, reading)
        large = delimited.size(paths) >= delimited.WHOLE_FILE_BYTES
        if not large:
            sources.settle()
        keep = large and delimited.size(paths) < _KEPT_BYTES
        return _rows(connection, sql, names, (), keep=keep, sources=sources)
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
    rows = _rows(connection, sql, names, markers, known=known, sources=sources)
    _check_rows(rows, repr(Path(paths[0]).name))
    return rows


def _check_rows(rows: Rows, what: str) -> None:
    """Refuse a table without rows; no value is fetched, for some kinds cannot be."""
    with duck.translated(what):
        if not rows.frame.to_native().limit(1).project("1").fetchall():
            raise SourceError(f"{what} has no rows.")


def open_frame(
    frame: Any, *, memory_limit: str | None = None, spill_folder: str | Path | None = None
) -> Rows:
    """Take a pandas, Polars, Arrow, DuckDB, Spark or Ibis frame as it is, or an Arrow dataset."""
    settings = {"memory_limit": memory_limit, "spill_folder": spill_folder}
    if is_dataset(frame):
        return _dataset(frame, settings)
    try:
        known = nw.from_native(frame, pass_through=False)
    except DuplicateError:
        raise ColumnError(
            "More than one column of the frame has the same name. Give each its own name."
        ) from None
    except TypeError:
        raise InputError(
            f"A {type(frame).__name__} is not a frame; give pandas, Polars, Arrow (a table or a "
            "dataset), DuckDB, Spark or Ibis."
        ) from None
    names = delimited.unique_names(_names_of(known))
    if not names:
        raise InputError("The frame has no columns.")
    if known.implementation.is_pyspark() or known.implementation.is_pyspark_connect():
        from crypsis.engine.spark_sources import spark_rows

        return spark_rows(frame, names)
    if known.implementation.is_duckdb():
        pairs = zip(frame.columns, inner_names(len(names)), strict=True)
        renamed = frame.project(", ".join(f"{quote(a)} AS {b}" for a, b in pairs))
        lazy = nw.from_native(renamed.project(", ".join(_plain_columns(renamed, ()))))
        return Rows(columns_of(lazy, names), lambda: lazy, DuckBackend())
    table = _arrow(known)
    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        raise InputError("The Arrow table contradicts itself; make it anew.") from None
    simple = memory.plain(table) if memory_limit is None and spill_folder is None else None
    if simple is not None:
        return memory.TableRows(simple, names)
    connection = duck.connect(**settings)  # type: ignore[arg-type]
    with duck.translated("taking the frame"):
        connection.register("source", table.rename_columns(inner_names(len(names))))
    return _rows(connection, "SELECT * FROM source", names, (), known=table.num_rows)


def is_dataset(frame: Any) -> bool:
    """Whether it is a dataset of Arrow, which is read anew for every question."""
    loaded = sys.modules.get("pyarrow.dataset")
    return loaded is not None and isinstance(frame, loaded.Dataset)


def _dataset(dataset: Any, settings: dict[str, Any]) -> Rows:
    """Read in a stream by DuckDB, and of its columns those that are asked about."""
    names = list(dataset.schema.names)
    if not names:
        raise InputError("The dataset has no columns.")
    connection = duck.connect(**settings)
    with duck.translated("opening the dataset"):
        connection.register("source", dataset)
    form = getattr(getattr(dataset, "format", None), "default_extname", "")
    known = dataset.count_rows() if form == "parquet" else None  # by the footers
    return _rows(connection, "SELECT * FROM source", names, (), known=known)


def _names_of(known: Any) -> list[str]:
    if isinstance(known, nw.DataFrame):
        return [str(name) for name in known.columns]
    try:
        return [str(name) for name in known.collect_schema().names()]
    except Exception as error:  # noqa: BLE001 - of as many kinds as there are kinds of frames
        raise InputError(f"The frame cannot be collected ({type(error).__name__}).") from None


def _arrow(known: Any) -> pa.Table:
    """An eager or lazy frame on this machine as an Arrow table, categories as their values."""
    try:
        table = known.to_arrow() if isinstance(known, nw.DataFrame) else _collected(known)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        column = (
            str(error).rsplit("column ", 1)[-1].split(" ")[0] if "column " in str(error) else ""
        )
        raise InputError(
            f"The column {column} mixes types that do not go together; make it one type, such as "
            "text."
        ) from None
    except Exception as error:  # noqa: BLE001 - of as many kinds as there are kinds of frames
        raise InputError(
            f"The frame cannot be turned into Arrow ({type(error).__name__}). Check that it can be "
            "collected, and that its columns are numbers, texts, dates or times."
        ) from None
    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = table.column(i).cast(field.type.value_type)
            table = table.set_column(i, field.name, plain)
        elif pa.types.is_null(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.string()))
        elif pa.types.is_float16(field.type):  # which DuckDB does not know
            table = table.set_column(i, field.name, table.column(i).cast(pa.float32()))
    if "__index_level_0__" in table.column_names:
        table = table.drop_columns(["__index_level_0__"])
    return table.replace_schema_metadata(None)


def _collected(known: Any) -> pa.Table:
    table = known.collect(backend="pyarrow").to_native()
    return table


def _rows(
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
        relation = relation.project(", ".join(_plain_columns(relation, missing)))
    lazy: nw.LazyFrame[Any] = nw.from_native(relation)
    unique = delimited.unique_names(list(names))

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


def _plain_columns(relation: duckdb.DuckDBPyRelation, missing: Sequence[str]) -> list[str]:
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
    names = delimited.unique_names(source.names)
    connection = duck.connect(**settings)
    source.copy_into(connection, "source")
    if sources is not None:
        sources.settle()
    markers = tuple(reading.missing_markers or ())
    rows = _rows(connection, "SELECT * FROM source", names, markers, sources=sources)
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
