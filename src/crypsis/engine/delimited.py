"""CSV and its kin: dialect, names and types are settled here, DuckDB only splits the lines.

Every field is read as text, stripped of surrounding blanks and compared with the markers of missing
values; then a column becomes integers, numbers, dates or times if all its values look like that.
Numbers with leading zeros (zip codes) and numbers too long for 18 digits (card numbers) stay text.
"""

from __future__ import annotations

import codecs
import csv
import io
import shutil
import weakref
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import pyarrow as pa

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
from crypsis.engine.reading import MISSING_MARKERS, TYPES, Reading
from crypsis.errors import ColumnError, SourceError
from crypsis.files import PrivateFolder, Sources

_HEAD_BYTES = 262_144
WHOLE_FILE_BYTES = 256_000_000
_SAMPLED_LINES = 200_000
_DELIMITERS = ",;\t|"
_LONGEST_LINE = 2_000_000
_NO_ENCODINGS = ("idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined")


def open_csv(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[str], reading: Reading
) -> tuple[str, list[str]]:
    """The SQL that yields the table's columns as c0, c1, ..., and the names they stand for."""
    reading.only("a CSV file", ("names", "header", "delimiter", "encoding", "types"))
    encoding = _codec(reading.encoding or "utf-8")
    heads = [_head(path, encoding) for path in paths]
    delimiter, names = layout(heads[0], reading, paths[0])
    for head, path in zip(heads[1:], paths[1:], strict=True):
        if _names(head, delimiter, reading, path) != names:
            raise SourceError(f"{_short(path)} has other columns than {_short(paths[0])}.")
    if encoding not in ("utf-8", "iso8859-1"):
        paths = [_as_utf8(connection, path, encoding) for path in paths]
        encoding = "utf-8"
    markers = MISSING_MARKERS if reading.missing_markers is None else tuple(reading.missing_markers)
    skip = int(reading.names is None)
    source = _read_csv(paths, delimiter, encoding, names, skip=skip, markers=markers)
    texts = [f"{_field(c, markers)} AS {c}" for c in inner_names(len(names))]
    small = size(paths) < WHOLE_FILE_BYTES
    split = f"SELECT {', '.join(texts)} FROM {source}"
    first = [row for row in _split(heads[0], delimiter) if row][skip:-1]
    likely = kinds.likely(first, markers, names, reading.types)
    if small and kinds.typed_at_once(connection, split, names, likely, reading.types):
        return "SELECT * FROM typed", names
    # The first lines, in small files all of them, are split once and kept while types are settled.
    limit = "" if small else f" LIMIT {_SAMPLED_LINES}"
    with translated(_short(paths[0])):
        connection.execute(f"CREATE TEMP TABLE lines AS {split}{limit}")
        settled = kinds.settled(connection, names, likely, reading.types)
        if not settled:
            raise SourceError(f"{_short(paths[0])} has a header and no rows.")
        casts = [f"CAST(c{i} AS {TYPES[kind]}) AS c{i}" for i, kind in enumerate(settled)]
        typed = f"SELECT {', '.join(casts)} FROM "
        if small:
            connection.execute(f"CREATE TEMP TABLE typed AS {typed} lines")
        connection.execute("DROP TABLE lines")
    return ("SELECT * FROM typed" if small else f"{typed} ({split})"), names


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


def layout(head: str, reading: Reading, path: str) -> tuple[str, list[str]]:
    """The delimiter and the names of the columns, by the first lines of a file."""
    delimiter = reading.delimiter or _delimiter(head)
    return delimiter, _names(head, delimiter, reading, path)


def _codec(name: str) -> str:
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):
        codec = None
    # Python keeps packers such as base64 and the spelling of host names among its codecs.
    if codec is None or not codec._is_text_encoding or codec.name in _NO_ENCODINGS:
        raise SourceError(f"There is no encoding {name!r}; try 'utf-8' or 'latin-1'.")
    return codec.name


def _head(path: str, encoding: str) -> str:
    """The first lines, whole ones only."""
    try:
        with _stream(path) as stream:
            start: bytes = stream.read(_HEAD_BYTES)
            if len(start) == _HEAD_BYTES and b"\n" not in start:
                start += stream.read(_LONGEST_LINE - _HEAD_BYTES)
    except OSError as error:
        raise SourceError(f"{_short(path)} cannot be read ({_reason(error)}).") from None
    if len(start) >= _HEAD_BYTES:
        start = start[: start.rfind(b"\n") + 1] or start
    start = start.removeprefix(codecs.BOM_UTF8)
    if not start.strip():
        raise SourceError(f"{_short(path)} is empty.")
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        head = decoder.decode(start)
    except UnicodeError as error:  # some codecs raise no more than that, without a place
        line = start[: getattr(error, "start", 0)].count(b"\n") + 1
        raise SourceError(
            f"{_short(path)}: line {line:,} is not in the encoding {encoding}. Name the right one, "
            "for example encoding='latin-1' (--encoding latin-1)."
        ) from None
    if not head.strip():
        raise SourceError(f"{_short(path)} holds no text in the encoding {encoding}.")
    return head


def _stream(path: str) -> Any:
    """The bytes of a local or remote file, unpacked."""
    if "://" in path:
        import fsspec

        return fsspec.open(path, "rb", compression="infer").open()
    return pa.input_stream(path, compression="detect")


def _delimiter(head: str) -> str:
    """The delimiter under which the most of the first lines have as many fields as the first."""

    def agreement(delimiter: str) -> tuple[float, int]:
        rows = [row for row in _split(head, delimiter)[:50] if row]
        width = len(rows[0])
        return (sum(len(row) == width for row in rows) / len(rows) * (width > 1), width)

    return max(_DELIMITERS, key=agreement)


def _split(head: str, delimiter: str) -> list[list[str]]:
    lines = head.splitlines(keepends=True)
    csv.field_size_limit(_LONGEST_LINE)
    return list(csv.reader(lines[:200], delimiter=delimiter, skipinitialspace=True))


def _names(head: str, delimiter: str, reading: Reading, path: str) -> list[str]:
    first = next(row for row in _split(head, delimiter) if row)
    if reading.names is not None:
        names = [str(name) for name in reading.names]
        if len(names) != len(first):
            raise SourceError(
                f"{len(names)} names were given, but {_short(path)} has {len(first)} columns."
            )
    else:
        names = [name.strip() or f"unnamed_{i + 1}" for i, name in enumerate(first)]
        if reading.header is None and any(_is_number(name) for name in names):
            raise SourceError(
                f"{_short(path)} seems to have no header: its first line holds numbers. Name the "
                "columns with names=[...] (--names a,b,c), or say header=True (--header)."
            )
    return unique_names(names)


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, if each is there once; a column without a name gets one."""
    names = [name or f"unnamed_{place}" for place, name in enumerate(names, 1)]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        listed = ", ".join(repr(name) for name in twice[:10])
        raise ColumnError(f"More than one column is called {listed}. Give each its own name.")
    return names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.lower() not in ("nan", "inf", "infinity")


def _as_utf8(connection: duckdb.DuckDBPyConnection, path: str, encoding: str) -> str:
    """A private copy in UTF-8, for encodings that DuckDB does not know."""
    folder = private_folder("crypsis-recoded-")
    weakref.finalize(connection, PrivateFolder.remove, folder)
    copy = folder.path / "table.csv"
    try:
        with (
            _stream(path) as raw,
            io.TextIOWrapper(raw, encoding=encoding, newline="") as source,
            copy.open("w", encoding="utf-8", newline="") as target,
        ):
            shutil.copyfileobj(source, target, 1 << 20)
    except UnicodeError:
        raise SourceError(f"{_short(path)} is not in the encoding {encoding}.") from None
    except OSError as error:
        raise SourceError(f"{_short(path)} cannot be copied ({_reason(error)}).") from None
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


def size(paths: Sequence[str]) -> float:
    """The bytes of some files; infinite where one is not on this machine."""
    return sum(Path(p).stat().st_size if Path(p).is_file() else float("inf") for p in paths)


def _short(path: str) -> str:
    return repr(path.rsplit("/", 1)[-1])


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
