"""Rows written to a file in its form: engines write plain CSV and Parquet, Arrow everything else."""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import lzma
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import duckdb
import narwhals.stable.v2 as nw
import pyarrow as pa

from crypsis.errors import OutputError, ParameterError
from crypsis.extras import import_extra
from crypsis.files import PrivateFolder
from crypsis.options import ReadOptions
from crypsis.tables import arrow_files
from crypsis.tables.duckdb.connection import private_folder, translated
from crypsis.tables.formats import arrow_ipc, excel, lakes, postgresql, sqlite, statistical
from crypsis.tables.forms import FileForm, form_for
from crypsis.tables.paths import remote_system
from crypsis.tables.rows import Rows
from crypsis.tables.schema import Column, Kind
from crypsis.tables.sources import open_source
from crypsis.tables.sql import quote
from crypsis.tables.time_types import with_time_types

_CHUNK_CHARACTERS = 1 << 22
"""Characters that are written in another encoding at a time."""
_TABLE = "release"
_LIBRARIES = {
    "excel": ("xlsxwriter", "Writing spreadsheets"),
    "stata": ("pyreadstat", "Writing files of Stata and SPSS"),
    "spss": ("pyreadstat", "Writing files of Stata and SPSS"),
    "delta": ("deltalake", "Writing Delta tables"),
}


def check_output(rows: Rows, path: str | Path) -> None:
    """Refuse a path before the work for it: no format has its suffix, or a library is missing."""
    form = form_for(path, rows.form or FileForm("csv"))
    if str(path).startswith(postgresql.SCHEMES):
        import_extra("adbc_driver_postgresql", "Writing to PostgreSQL")
    elif rows.local and "://" in str(path):
        remote_system(str(path))
    if form.format in _LIBRARIES:
        import_extra(*_LIBRARIES[form.format])


def write_rows(
    rows: Rows, path: str | Path, *, overwrite: bool = False, neutralize_formulas: bool = False
) -> Path:
    """Write rows to a file that appears complete or not at all, in the form of their source."""
    form = form_for(path, rows.form)
    chosen = without_formulas(rows, form) if neutralize_formulas else rows
    with replacing(chosen, [path], overwrite=overwrite) as (partial,):
        write_file(chosen, partial, form)
    return Path(path)


def without_formulas(rows: Rows, form: FileForm) -> Rows:
    """The rows for a file that a spreadsheet may open as text."""
    if form.format != "csv":
        raise ParameterError(
            "Formulas are neutralized in CSV only; other formats have types and need no neutralizing."
        )
    return rows.without_formulas()


def replacing(
    rows: Rows, paths: Sequence[str | Path], *, overwrite: bool = False
) -> AbstractContextManager[tuple[Path | str, ...]]:
    """Places to write to, which become `paths` together when the block ends without an error."""
    if str(paths[0]).startswith(postgresql.SCHEMES):
        if not rows.local:
            raise OutputError(
                "Rows on Spark are not written to PostgreSQL.", hint="Write a Parquet file first."
            )
        return _into_table(str(paths[0]), overwrite)
    if rows.local and "://" in str(paths[0]):
        return _uploaded([str(path) for path in paths], overwrite)
    return rows.replacing(paths, overwrite=overwrite)


@contextmanager
def _into_table(address: str, overwrite: bool) -> Iterator[tuple[Path | str, ...]]:
    """A Parquet file of a private folder, whose rows become a table when it is complete."""
    target = postgresql.TableAddress.of(address)
    if not overwrite:
        target.check_free()
    folder = private_folder("crypsis-upload-")
    try:
        file = folder.path / "table.parquet"
        yield (file,)
        target.write(file, overwrite=overwrite)
    finally:
        PrivateFolder.remove(folder)


@contextmanager
def _uploaded(paths: Sequence[str], overwrite: bool) -> Iterator[tuple[Path | str, ...]]:
    """Files of a private folder, which are sent to their addresses when they are complete."""
    if Path(paths[0]).suffix.lower() == ".delta":
        raise OutputError("A Delta table is written to a folder of this machine.")
    system, folder = remote_system(paths[0]), private_folder("crypsis-upload-")
    partials = tuple(folder.path / path.rsplit("/", 1)[-1] for path in paths)
    try:
        for path in paths:
            if not overwrite and _asked(system.exists, path):
                raise OutputError(f"{path!r} exists already.", code="exists", hint="Set {overwrite=True}.")
        yield partials
        for partial, path in zip(partials, paths, strict=True):
            _asked(system.put_file, str(partial), path)
    finally:
        PrivateFolder.remove(folder)


def _asked(method: Any, *arguments: str) -> Any:
    try:
        return method(*arguments)
    except Exception as error:  # noqa: BLE001 - of as many kinds as there are kinds of storage
        scheme = arguments[-1].split("://", 1)[0]
        raise OutputError(
            f"{scheme}:// could not be written to ({type(error).__name__}).",
            hint="Check the address and the credentials in the environment.",
        ) from None


def write_file(rows: Rows, path: Path | str, form: FileForm) -> None:
    """Write rows to `path`, which does not exist yet."""
    if form.plain:
        rows.write_file(path, form.format)
        return
    if not rows.local:
        raise OutputError("Spark writes CSV and Parquet.", hint="Write to a name ending in .csv or .parquet.")
    target, names = Path(path), rows.names
    batches = (batch for batch in rows.batches(f"writing {target.name}"))
    if form.format == "csv":
        _write_csv(rows, target, form)
    elif form.format == "json":
        with packed(target, form.compression) as file:
            for batch in batches:
                file.writelines(_json_line(row) for row in batch.to_pylist())
    elif form.format == "arrow":
        arrow_ipc.write_arrow(with_time_types(batches, names, form.times), names, target)
    elif form.format == "parquet":
        arrow_files.write(with_time_types(batches, names, form.times), names, target, "parquet")
    elif form.format == "excel":
        excel.write_sheet(batches, names, target)
    elif form.format in ("stata", "spss"):
        statistical.write_statistical(batches, names, target, form.format, form.labels)
    elif form.format == "delta":
        lakes.write_delta(batches, names, target)
    elif form.format == "sqlite":
        sqlite.write_table(batches, names, target, form.table or _TABLE)
    else:
        _write_duckdb(batches, names, target, form.table or _TABLE)


def _json_line(row: dict[str, Any]) -> bytes:
    """A record as JSON, which has no NaN: it is missing."""
    cells = {name: None if value != value else value for name, value in row.items()}
    return (json.dumps(cells, default=str, ensure_ascii=False) + "\n").encode()


def _write_duckdb(batches: Iterator[pa.RecordBatch], names: Sequence[str], path: Path, table: str) -> None:
    first = next(batches)
    schema = pa.schema(list(zip(names, first.schema.types, strict=True)))

    def every() -> Iterator[pa.RecordBatch]:
        yield first.rename_columns(list(names))
        for batch in batches:
            yield batch.rename_columns(list(names))

    reader = pa.RecordBatchReader.from_batches(schema, every())
    bare = table.rsplit(".", 1)[-1]
    with translated("writing the table"), duckdb.connect(str(path)) as database:
        database.register("rows_to_write", reader)
        database.execute(f"CREATE TABLE {quote(bare)} AS SELECT * FROM rows_to_write")
        database.unregister("rows_to_write")
        database.execute("CHECKPOINT")


def _write_csv(rows: Rows, path: Path, form: FileForm) -> None:
    """Numbers and dates as the form has them; then the bytes in its encoding and compression."""
    texts = {column.name: _text(column, form) for column in rows.columns}
    changed = {name: text for name, text in texts.items() if text is not None}
    written = rows.with_texts(changed) if changed else rows
    # Of one column of texts no line shows another delimiter than its commas, unless they are quoted.
    alone = len(rows.columns) == 1 and rows.columns[0].kind is Kind.TEXT
    delimiter = "," if alone else form.delimiter
    if form.encoding == "utf-8" and form.compression is None:
        written.write_file(path, "csv", delimiter)
        return
    folder = private_folder("crypsis-recoded-")
    try:
        copy = folder.path / "table.csv"
        written.write_file(copy, "csv", delimiter)
        _recoded(copy, path, form)
    finally:
        PrivateFolder.remove(folder)


def _text(column: Column, form: FileForm) -> nw.Expr | None:
    """The texts of a column, where they are not those that engines write."""
    cell = nw.col(column.inner)
    if column.kind is Kind.NUMBER and form.decimal == ",":
        return cell.cast(nw.String).str.replace_all(".", ",", literal=True)
    if column.kind in (Kind.DATE, Kind.TIME) and column.name in form.dates:
        return cell.dt.to_string(form.dates[column.name])
    return None


def _recoded(source: Path, target: Path, form: FileForm) -> None:
    try:
        with source.open(encoding="utf-8", newline="") as text, packed(target, form.compression) as out:
            encoder = codecs.getincrementalencoder(form.encoding)()  # its mark comes once
            while chunk := text.read(_CHUNK_CHARACTERS):
                out.write(encoder.encode(chunk))
    except UnicodeEncodeError:
        raise OutputError(
            f"The release has characters that are not in the encoding {form.encoding}, which is "
            "that of the original.",
            code="encoding",
            hint="Convert the original to utf-8 first.",
        ) from None


def packed(path: Path, compression: str | None) -> BinaryIO:
    """A file to write to; compressed without a name or a time in it."""
    if compression == "gzip":
        return cast("BinaryIO", _Gzip(path))
    if compression == "bz2":
        return cast("BinaryIO", bz2.open(path, "wb"))
    if compression == "xz":
        return cast("BinaryIO", lzma.open(path, "wb"))
    if compression == "zstd":
        return cast("BinaryIO", pa.CompressedOutputStream(str(path), "zstd"))
    return path.open("wb")


class _Gzip(gzip.GzipFile):
    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        super().__init__(filename="", mode="wb", fileobj=self._file, mtime=0)

    def close(self) -> None:
        super().close()
        self._file.close()


def read_back(rows: Rows, path: Path | str, form: FileForm, names: Sequence[str]) -> Rows:
    """The rows of a file just written for `rows`, under `names`; of CSV all columns as text."""
    if form.plain:
        return rows.read_back(path, form.format, names)
    if form.format == "csv":
        reading = ReadOptions(
            format="csv",
            delimiter=form.delimiter,
            encoding=form.encoding,
            header=True,
            missing_markers=("",),
            types=dict.fromkeys(names, "text"),
        )
    else:
        table = (form.table or _TABLE) if form.format in ("duckdb", "sqlite") else None
        reading = ReadOptions(format=form.format, table=table and table.rsplit(".", 1)[-1])
    return open_source(path, reading)
