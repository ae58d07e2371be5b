"""The contents of a source by its format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from crypsis.options import ReadOptions
from crypsis.tables.contents._content import Content
from crypsis.tables.contents._databases import duckdb_contents, sqlite_contents
from crypsis.tables.contents._files import attributes, folder_contents, gzip_contents
from crypsis.tables.contents._opendocument import opendocument_contents
from crypsis.tables.contents._parquet import parquet_contents
from crypsis.tables.contents._workbook import workbook_contents

_OF_ONE_FILE: dict[str, Callable[[str, ReadOptions], Iterator[Content]]] = {
    "duckdb": duckdb_contents,
    "sqlite": sqlite_contents,
}


def list_contents(
    form: str, paths: Sequence[str], asked: str, reading: ReadOptions
) -> tuple[Content, ...]:
    """Everything in the files, or in the folder `asked`, that is not in the table.

    What cannot be inspected is listed as that. A table on another machine or on a server is not a
    file that is handed over: nothing is listed.
    """
    local = [path for path in paths if "://" not in path]
    return tuple(dict.fromkeys(_contents(form, local, asked, reading)))


def _contents(
    form: str, paths: Sequence[str], asked: str, reading: ReadOptions
) -> Iterator[Content]:
    if not paths:
        return
    if form == "parquet":
        yield from parquet_contents(paths)
    elif form == "excel":
        document = paths[0].lower().endswith(".ods")
        yield from (opendocument_contents if document else workbook_contents)(paths[0], reading)
    elif form in _OF_ONE_FILE:
        yield from _OF_ONE_FILE[form](paths[0], reading)
    if "://" not in asked and Path(asked).expanduser().is_dir():
        yield from folder_contents(Path(asked).expanduser(), paths)
    for path in paths:
        yield from gzip_contents(path)
        yield from attributes(path)
