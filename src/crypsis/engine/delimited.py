"""CSV and its kin: types are settled here by every line, DuckDB only splits the lines.

Every field is read as text, stripped of surrounding blanks and compared with the markers of missing
values; then a column becomes integers, numbers, dates or times if all its values look like that.
Numbers with leading zeros (zip codes) and numbers too long for 18 digits (card numbers) stay text.
"""

from __future__ import annotations

import io
import shutil
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw

from crypsis.engine import kinds
from crypsis.engine.base import Column, Kind
from crypsis.engine.duck import (
    DuckBackend,
    connect,
    inner_names,
    literal,
    private_folder,
    translated,
)
from crypsis.engine.frames import Rows
from crypsis.engine.layout import Layout, reason, short, size, stream
from crypsis.engine.reading import TYPES
from crypsis.errors import SourceError
from crypsis.files import PrivateFolder, Sources

WHOLE_FILE_BYTES = 256_000_000
_SAMPLED_LINES = 200_000


def open_csv(
    connection: duckdb.DuckDBPyConnection, layout: Layout, types: Mapping[str, str]
) -> str:
    """The SQL that yields the table's columns as c0, c1, ..."""
    paths, encoding, names = layout.paths, layout.encoding, layout.names
    if encoding not in ("utf-8", "iso8859-1"):
        paths = tuple(_as_utf8(connection, path, encoding) for path in paths)
        encoding = "utf-8"
    markers = layout.markers
    source = _read_csv(paths, layout.delimiter, encoding, names, skip=layout.skip, markers=markers)
    texts = [f"{_field(c, markers)} AS {c}" for c in inner_names(len(names))]
    small = size(paths) < WHOLE_FILE_BYTES
    split = f"SELECT {', '.join(texts)} FROM {source}"
    if small and kinds.typed_at_once(connection, split, names, layout.likely, types):
        return "SELECT * FROM typed"
    # The first lines, in small files all of them, are split once and kept while types are settled.
    limit = "" if small else f" LIMIT {_SAMPLED_LINES}"
    with translated(short(paths[0])):
        connection.execute(f"CREATE TEMP TABLE lines AS {split}{limit}")
        settled = kinds.settled(connection, names, layout.likely, types)
        if not settled:
            raise SourceError(f"{short(paths[0])} has a header and no rows.")
        casts = [f"CAST(c{i} AS {TYPES[kind]}) AS c{i}" for i, kind in enumerate(settled)]
        typed = f"SELECT {', '.join(casts)} FROM "
        if small:
            connection.execute(f"CREATE TEMP TABLE typed AS {typed} lines")
        connection.execute("DROP TABLE lines")
    return "SELECT * FROM typed" if small else f"{typed} ({split})"


def as_it_stands(path: Path, names: Sequence[str]) -> Rows:
    """A CSV file that was written here, told as its texts are; only an empty cell is missing."""
    connection = connect()
    source = _read_csv([str(path)], ",", "utf-8", names, skip=1, markers=("",))
    columns = [
        Column(name, Kind.TEXT, inner)
        for name, inner in zip(names, inner_names(len(names)), strict=True)
    ]

    def load() -> nw.LazyFrame[Any]:
        with translated(path.name):
            return nw.from_native(connection.sql(f"SELECT * FROM {source}"))

    return Rows(columns, load, DuckBackend(connection, Sources([path])))


def _as_utf8(connection: duckdb.DuckDBPyConnection, path: str, encoding: str) -> str:
    """A private copy in UTF-8, for encodings that DuckDB does not know."""
    folder = private_folder("crypsis-recoded-")
    weakref.finalize(connection, PrivateFolder.remove, folder)
    copy = folder.path / "table.csv"
    try:
        with (
            stream(path) as raw,
            io.TextIOWrapper(raw, encoding=encoding, newline="") as source,
            copy.open("w", encoding="utf-8", newline="") as target,
        ):
            shutil.copyfileobj(source, target, 1 << 20)
    except UnicodeError:
        raise SourceError(f"{short(path)} is not in the encoding {encoding}.") from None
    except OSError as error:
        raise SourceError(f"{short(path)} cannot be copied ({reason(error)}).") from None
    return str(copy)


def _read_csv(
    paths: Sequence[str],
    delimiter: str,
    encoding: str,
    names: Sequence[str],
    *,
    skip: int,
    markers: Sequence[str],
) -> str:
    files = ", ".join(literal(path) for path in paths)
    columns = ", ".join(f"'{inner}': 'VARCHAR'" for inner in inner_names(len(names)))
    # Without markers nothing is missing, not even an empty field; DuckDB wants some text here.
    nothing = ", ".join(literal(marker) for marker in markers or ("\x01",))
    code = "latin-1" if encoding == "iso8859-1" else encoding
    return (
        f"read_csv([{files}], auto_detect = false, columns = {{{columns}}}, "
        f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', header = false, "
        f"skip = {skip}, strict_mode = true, null_padding = false, nullstr = [{nothing}], "
        f"encoding = '{code}')"
    )


def _field(inner: str, markers: Sequence[str]) -> str:
    """A field without blanks around it; markers are gone already, but for those with blanks."""
    bare = f"trim({inner})"
    changed = without_markers(bare, markers)
    return f"CASE WHEN strlen({inner}) = strlen({bare}) THEN {inner} ELSE {changed} END"


def without_markers(text: str, markers: Sequence[str]) -> str:
    """SQL that turns the markers of missing values into missing values.

    By a pattern and not by IN: DuckDB makes a join of a list, and a join loses the order of the
    rows, on which files that go together row by row depend.
    """
    if not markers:
        return text
    pattern = "|".join("".join(_plain_character(c) for c in marker) for marker in markers)
    return f"CASE WHEN regexp_full_match({text}, {literal(pattern)}) THEN NULL ELSE {text} END"


def _plain_character(character: str) -> str:
    return (
        character if character.isascii() and character.isalnum() else rf"\x{{{ord(character):x}}}"
    )
