"""The contents of a source by its format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from crypsis.errors import CrypsisError
from crypsis.options import ReadOptions
from crypsis.tables.contents._arrow import arrow_contents
from crypsis.tables.contents._content import Content
from crypsis.tables.contents._csv_notation import csv_contents
from crypsis.tables.contents._duckdb import duckdb_contents, duckdb_table
from crypsis.tables.contents._files import attributes, folder_contents, folder_names, gzip_contents
from crypsis.tables.contents._json_notation import json_contents
from crypsis.tables.contents._opendocument import opendocument_contents
from crypsis.tables.contents._packed import packed_contents
from crypsis.tables.contents._parquet import parquet_contents
from crypsis.tables.contents._sqlite import sqlite_contents, sqlite_table
from crypsis.tables.contents._statistical import statistical_contents, statistical_titles
from crypsis.tables.contents._workbook import sheet_title, workbook_contents
from crypsis.tables.paths import expanded

_STATISTICAL = ("stata", "spss", "sas")
_THIS_MACHINE = "file://"
_LAKES = {"delta": "Delta", "iceberg": "Iceberg"}
_OF_ONE_FILE: dict[str, Callable[[str, ReadOptions], Iterator[Content]]] = {
    "duckdb": duckdb_contents,
    "sqlite": sqlite_contents,
    "arrow": arrow_contents,
    **dict.fromkeys(_STATISTICAL, statistical_contents),
}
_TITLE: dict[str, Callable[[str, ReadOptions], str]] = {
    "duckdb": duckdb_table,
    "sqlite": sqlite_table,
    "excel": sheet_title,
}
_OF_TEXT: dict[str, Callable[[str, ReadOptions], Iterator[Content]]] = {
    "csv": csv_contents,
    "json": json_contents,
}


def list_contents(form: str, paths: Sequence[str], asked: str, reading: ReadOptions) -> tuple[Content, ...]:
    """Everything in the files, or in the folder `asked`, that is not in the table.

    What cannot be inspected is listed as that. A table on another machine or on a server is not a
    file that is handed over: nothing is listed.
    """
    paths = [path.removeprefix(_THIS_MACHINE) for path in paths]
    asked = asked.removeprefix(_THIS_MACHINE)
    local = [path for path in paths if "://" not in path]
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
    if not paths:
        return
    if form == "parquet":
        yield from parquet_contents(paths)
    elif form == "excel":
        document = paths[0].lower().endswith(".ods")
        yield from (opendocument_contents if document else workbook_contents)(paths[0], reading)
    elif form in _OF_ONE_FILE:
        yield from _OF_ONE_FILE[form](paths[0], reading)
    if form in _LAKES:
        text = "keeps earlier versions, statistics of values and a log, which were not inspected."
        yield Content("versions", f"The folder of a table of {_LAKES[form]} {text}")
        return
    if form not in (*_OF_ONE_FILE, *_OF_TEXT, "parquet", "excel"):
        yield Content("inside", f"The inside of a file of the format {form} was not inspected.")
    if "://" not in asked and expanded(asked).is_dir():
        yield from folder_contents(expanded(asked), paths)
        yield from folder_names(expanded(asked), paths)
    elif len(paths) > 1:
        yield from folder_names(Path(os.path.commonpath([Path(path).parent for path in paths])), paths)
    for path in paths:
        if form in _OF_TEXT:
            yield from _OF_TEXT[form](path, reading)
        yield from gzip_contents(path)
        yield from packed_contents(path)
        yield from attributes(path)


def list_titles(form: str, paths: Sequence[str], asked: str, reading: ReadOptions) -> tuple[str, ...]:
    """The names that a recipient sees with the table: of files, folders, the sheet, the table."""
    local = [Path(path).absolute() for path in paths if "://" not in path]
    top = expanded(asked).absolute()
    names = [path.name.split(".csv")[0] for path in local]
    if "://" not in asked and top.is_dir():
        names.append(top.name)
        names += [part for path in local for part in _parts(path, top)]
    if form in _TITLE and local:
        names.append(_TITLE[form](str(local[0]), reading))
    if form in _STATISTICAL and local:
        names += statistical_titles(str(local[0]), reading)
    return tuple(dict.fromkeys(name for name in names if name))


def _parts(path: Path, top: Path) -> tuple[str, ...]:
    return path.relative_to(top).parts[:-1] if path.is_relative_to(top) else ()
