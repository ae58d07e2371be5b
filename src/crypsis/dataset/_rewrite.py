"""A table written anew: a file with its rows and nothing besides them, and the record of its digest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from crypsis import __version__
from crypsis.errors import OutputError
from crypsis.files import digest
from crypsis.options import MISSING_MARKERS, ReadOptions
from crypsis.results import Result
from crypsis.tables import (
    RECORD,
    FileForm,
    Kind,
    Rows,
    check_output,
    form_for,
    open_source,
    read_back,
    replacing,
    write_file,
)

_WITH_LABELS = ("stata", "spss")
_WITH_TIMES = ("parquet", "arrow")
_WITH_NESTED = (*_WITH_TIMES, "json", "duckdb")
_CSV_TYPES = {Kind.INTEGER: "integer", Kind.NUMBER: "number", Kind.DATE: "date", Kind.TIME: "time"}


class CleanCopy(Result):
    """A file in the canonical form: the rows of a table, and nothing besides them."""

    file: str
    """The name of the file."""
    sha256: str
    """Its digest, which is in its record, too."""
    rows: int
    notes: tuple[str, ...] = ()
    """What the format does not have, so that it is said in another way: types, labels, empty texts."""
    left_out: tuple[str, ...] = ()
    """What the source has, or can have, besides the table."""


def rewrite(
    source: str | Path,
    path: str | Path,
    *,
    overwrite: bool = False,
    format: str | None = None,  # noqa: A002 - the word users look for
    names: Sequence[str] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    date_format: str | None = None,
    missing_markers: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    sheet: str | None = None,
    table: str | None = None,
    query: str | None = None,
    memory_limit: str | None = None,
    spill_folder: str | Path | None = None,
) -> CleanCopy:
    r"""Write a table anew, as a file with its rows and nothing besides them.

    Workbooks, databases and files of statistical packages can hold what no table shows: hidden sheets,
    deleted rows, authors. The clean copy holds none of it. Its record, a file of the same name that ends
    in .record.json, has its digest, by which `assess` knows it. The copy is read back and compared with
    the table before it gets its name; nothing is written if a value differs.

    Parameters
    ----------
    source : str or Path
        The file, folder or database, as for `read`.
    path : str or Path
        The file to write on this machine; its suffix names the format, as for `Dataset.write`.
    overwrite : bool, optional
        Replace a file that exists, and its record.
    format, names, header, delimiter, encoding, decimal, date_format : optional
        How to read the source, as for `read`.
    missing_markers, types, sheet, table, query : optional
        How to read the source, as for `read`.
    memory_limit : str, optional
        The memory that DuckDB may use, such as "4GB".
    spill_folder : str or Path, optional
        The folder for data that does not fit in memory.

    Returns
    -------
    CleanCopy
        What was written, and what the format does not have.

    Raises
    ------
    OutputError
        If the format cannot hold a value of the table.

    Notes
    -----
    The rows keep their order, and values stay as they were read: nothing is anonymized.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source = Path(folder, "people.csv")
    ...     _ = source.write_text("age,sex\n30,f\n41,m\n")
    ...     rewrite(source, Path(folder, "people.parquet")).rows
    2
    """
    reading = ReadOptions(
        format,
        names,
        header,
        delimiter,
        encoding,
        decimal,
        date_format,
        missing_markers,
        dict(types or {}),
        sheet,
        table,
        query,
    )
    if "://" in str(path):
        raise OutputError("The clean copy and its record are files of this machine.")
    rows = open_source(source, reading, memory_limit=memory_limit, spill_folder=spill_folder)
    check_output(rows, path)
    form = form_for(path, rows.form)
    if form.format == "delta":
        raise OutputError("A Delta table keeps a log of its files besides its rows.", hint="Write .parquet.")
    nested = [column.name for column in rows.columns if column.kind is Kind.NESTED]
    if nested and form.format not in _WITH_NESTED:
        raise _not_carried(f"Column {nested[0]!r} has lists, structures or bytes.")
    target = Path(path)
    left_out = () if rows.contents is None else tuple(content.description for content in rows.contents())
    record = target.with_name(target.name + RECORD)
    with replacing(rows, [target, record], overwrite=overwrite) as (partial, partial_record):
        write_file(rows, partial, form)
        notes = (
            *_lost_with_form(rows, form),
            *_types_lost(rows, _read_again(rows, partial, form)),
            *_values_emptied(rows, _read_again(rows, partial, form, typed=True)),
        )
        copy = CleanCopy(target.name, digest(partial), rows.count, notes, left_out)
        content = {
            "format": "crypsis record 1",
            "made_with": f"crypsis {__version__}",
            "file": copy.file,
            "sha256": copy.sha256,
            "rows": copy.rows,
            "notes": list(copy.notes),
        }
        Path(partial_record).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return copy


def _read_again(rows: Rows, path: Path | str, form: FileForm, *, typed: bool = False) -> Rows:
    """The rows of the copy; those of a CSV file, which has no types, also by the types of the table."""
    if form.format != "csv":
        return read_back(rows, path, form, rows.names)
    alone = len(rows.columns) == 1 and rows.columns[0].kind is Kind.TEXT
    reading = ReadOptions(
        "csv", header=True, delimiter="," if alone else form.delimiter, encoding=form.encoding
    )
    if typed:
        kinds = {column.name: _CSV_TYPES.get(column.kind, "text") for column in rows.columns}
        reading = replace(reading, decimal=form.decimal, missing_markers=("",), types=kinds)
    return open_source(path, reading)


def _lost_with_form(rows: Rows, form: FileForm) -> Iterator[str]:
    """What the file of the table says of its columns, and the format of the copy cannot."""
    given = rows.form or FileForm("frame")
    if given.labels is not None and given.labels.columns and form.format not in _WITH_LABELS:
        yield "The labels of the columns are left out: the format has none."
    for name, kind in given.times.items() if form.format not in _WITH_TIMES else ():
        yield f"Column {name!r} ({kind}) has no type in the format for durations and time zones."


def _types_lost(rows: Rows, copied: Rows) -> list[str]:
    """Which columns are of another type when the copy is read."""
    if copied.names != rows.names or copied.count != rows.count:
        raise _not_carried("The copy has other columns or rows than the table.")
    return [
        f"Column {column.name!r} ({column.kind}) is read from the copy as {copy.kind}."
        for column, copy in zip(rows.columns, copied.columns, strict=True)
        if column.kind is not copy.kind
    ]


def _values_emptied(rows: Rows, copied: Rows) -> list[str]:
    """Which columns have more missing values in the copy; another value is an error."""
    emptied = dict.fromkeys(rows.names, 0)
    for given, copy in _aligned(rows.parts("reading rows"), copied.parts("comparing the copy")):
        for name in rows.names:
            if not _equal(_with_missing(given[name]), _with_missing(copy[name])):
                raise _not_carried(f"Column {name!r} has values that the format cannot hold as they are.")
            emptied[name] += copy[name].null_count - given[name].null_count
    return [
        f"Column {name!r} has texts or numbers without a value (empty, NA, NaN), which are missing values "
        "in the copy."
        for name, count in emptied.items()
        if count
    ]


def _not_carried(text: str) -> OutputError:
    return OutputError(text, code="not-carried", hint="Write a .parquet file, which has all types.")


def _with_missing(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column with NaN and missing-value markers as missing values."""
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        marked = pc.is_in(column, value_set=pa.array(MISSING_MARKERS, column.type))
        return pc.if_else(marked, pa.scalar(None, column.type), column)
    return column


def _equal(given: pa.ChunkedArray, copy: pa.ChunkedArray) -> bool:
    """Whether the values are the same, in the type of the table."""
    try:
        return bool(copy.cast(given.type).equals(given))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False


def _aligned(first: Iterator[pa.Table], second: Iterator[pa.Table]) -> Iterator[tuple[pa.Table, pa.Table]]:
    """The same rows of two tables that come in parts of different lengths."""
    left = right = None
    while True:
        left = left if left is not None and left.num_rows else next(first, None)
        right = right if right is not None and right.num_rows else next(second, None)
        if left is None or right is None:
            return
        rows = min(left.num_rows, right.num_rows)
        yield left.slice(0, rows), right.slice(0, rows)
        left, right = left.slice(rows), right.slice(rows)
