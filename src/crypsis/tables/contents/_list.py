"""The contents of a source by its format.

Text, Parquet and Arrow are judged by what a reader or the library of the format lists. Of containers that
can hold what no table shows nothing is searched: only one in the canonical form has no other contents.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import duckdb

from crypsis.errors import CrypsisError
from crypsis.options import ReadOptions
from crypsis.tables.canonical import is_canonical
from crypsis.tables.contents._arrow import arrow_contents
from crypsis.tables.contents._content import Content
from crypsis.tables.contents._csv_notation import csv_contents
from crypsis.tables.contents._files import attributes, compression_contents, folder_contents, folder_names
from crypsis.tables.contents._json_notation import json_contents
from crypsis.tables.contents._parquet import columns_of_some, parquet_contents
from crypsis.tables.duckdb.connection import connect
from crypsis.tables.formats.excel import sheet_names
from crypsis.tables.formats.sqlite import sqlite_uri
from crypsis.tables.formats.statistical import load
from crypsis.tables.paths import expanded, library_errors
from crypsis.tables.sql import literal

_THIS_MACHINE = "file://"
_STATISTICAL = ("stata", "spss", "sas")
_LAKES = ("delta", "iceberg")
_LISTED: dict[str, Callable[[str, ReadOptions], Iterator[Content]]] = {
    "csv": csv_contents,
    "json": json_contents,
    "parquet": parquet_contents,
    "arrow": arrow_contents,
}
_HIDDEN = {
    "excel": "A workbook can hold other sheets, comments, hidden cells and the names of its authors",
    **dict.fromkeys(("duckdb", "sqlite"), "A database file can hold other tables, deleted rows and code"),
    **dict.fromkeys(
        _STATISTICAL,
        "A file of a statistical package can hold notes, and labels of values that no record has",
    ),
    **dict.fromkeys(_LAKES, "A table with versions keeps its earlier rows and a log of the changes"),
}
"""What no table shows, by format."""
_FIRST_TABLE = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name LIMIT 1",
    "duckdb": "SELECT table_name FROM duckdb_tables() WHERE database_name = 'source' LIMIT 1",
}


def list_contents(form: str, paths: Sequence[str], asked: str, reading: ReadOptions) -> tuple[Content, ...]:
    """What the files, or the folder `asked`, have or may have besides the table.

    A table on another machine or on a server is not a file that is handed over: nothing is listed.
    """
    asked = asked.removeprefix(_THIS_MACHINE)
    local = [path for path in (path.removeprefix(_THIS_MACHINE) for path in paths) if "://" not in path]
    contents: list[Content] = []
    try:
        contents.extend(_contents(form, local, asked, reading))
    except CrypsisError:
        raise
    except Exception:  # noqa: BLE001 - whatever parsers stumble over in a damaged file
        name = Path(local[0]).name
        contents.append(Content(f"inside:{name}", f"Not all of {name!r} could be inspected."))
    return tuple(dict.fromkeys(contents))


def _contents(form: str, paths: Sequence[str], asked: str, reading: ReadOptions) -> Iterator[Content]:
    list_file = _LISTED.get(form)
    for path in paths:
        found = [_unlisted(form)] if list_file is None else list(list_file(path, reading))
        found += compression_contents(path)
        if found and not is_canonical(path):
            yield from found
        yield from attributes(path)
    if form == "parquet":
        yield from columns_of_some(paths)
    if not paths or form in _LAKES:
        return
    if "://" not in asked and expanded(asked).is_dir():
        yield from folder_contents(expanded(asked), paths)
        yield from folder_names(expanded(asked), paths)
    elif len(paths) > 1:
        yield from folder_names(Path(os.path.commonpath([Path(path).parent for path in paths])), paths)


def _unlisted(form: str) -> Content:
    """That a format can hold what no table shows."""
    hidden = _HIDDEN.get(form, f"A file of the format {form} can hold other things besides its table")
    return Content(f"format:{form}", f"{hidden}; what no table shows is not searched.")


def list_titles(form: str, paths: Sequence[str], asked: str, reading: ReadOptions) -> tuple[str, ...]:
    """The names that a recipient sees with the table: of files, folders, the sheet, the table."""
    local = [Path(path).absolute() for path in paths if "://" not in path]
    top = expanded(asked).absolute()
    names = [path.name.split(".csv")[0] for path in local]
    if "://" not in asked and top.is_dir():
        names.append(top.name)
        names += [part for path in local for part in _parts(path, top)]
    if local:
        names += _inner_titles(form, str(local[0]), reading)
    return tuple(dict.fromkeys(name for name in names if name))


def _parts(path: Path, top: Path) -> tuple[str, ...]:
    return path.relative_to(top).parts[:-1] if path.is_relative_to(top) else ()


def _inner_titles(form: str, path: str, reading: ReadOptions) -> list[str]:
    """The name of the table or sheet that is read, or the labels of a statistical file."""
    if form in _STATISTICAL:
        _, labels = load(path, reading, metadataonly=True)
        return [labels.file_label, *labels.column_labels]
    if reading.query is not None or form not in (*_FIRST_TABLE, "excel"):
        return []
    chosen = reading.sheet if form == "excel" else reading.table
    try:
        return [chosen or _first_title(form, path)]
    except (duckdb.Error, sqlite3.Error, CrypsisError):
        return []


def _first_title(form: str, path: str) -> str:
    """The name of the first table or sheet."""
    if form == "excel":
        with library_errors(path):
            return next(iter(sheet_names(path)), "")
    if form == "sqlite":
        with closing(sqlite3.connect(sqlite_uri(path), uri=True)) as database:
            found = database.execute(_FIRST_TABLE[form]).fetchone()
    else:
        with closing(connect()) as connection:
            connection.execute(f"ATTACH {literal(path)} AS source (READ_ONLY, TYPE duckdb)")
            found = connection.execute(_FIRST_TABLE[form]).fetchone()
    return "" if found is None else str(found[0])
