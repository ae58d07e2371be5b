"""CSV files that DuckDB splits; column types are settled here, by every line.

Every field is read as text, stripped of surrounding blanks and compared with the missing-value
markers; then a column becomes integers, numbers, dates or times if all its values have that form.
"""

from __future__ import annotations

import io
import shutil
import weakref
from collections.abc import Collection, Mapping, Sequence

import duckdb

from crypsis.errors import SourceError
from crypsis.files import PrivateFolder
from crypsis.tables.csv.dialect import Dialect, reason, short, size, stream
from crypsis.tables.csv.types import PATTERNS
from crypsis.tables.duckdb.connection import private_folder, translated
from crypsis.tables.schema import inner_names
from crypsis.tables.sql import SQL_TYPES, literal, read_csv, trimmed_field, without_markers

SMALL_FILE_BYTES = 256_000_000
"""Files up to this size are read once, with every line."""
_SAMPLED_LINES = 200_000
_COLUMNS_AT_ONCE, _MAX_TYPED_AT_ONCE = 20, 100


def open_csv(
    connection: duckdb.DuckDBPyConnection,
    dialect: Dialect,
    types: Mapping[str, str],
    written: Collection[str] = (),
) -> str:
    """The SQL that yields the table's columns as c0, c1, ...

    The columns `written` are texts as they are in the file: with blanks, and with missing-value
    markers, of which only the empty text is missing.
    """
    paths, encoding, names = dialect.paths, dialect.encoding, dialect.names
    if encoding not in ("utf-8", "iso8859-1"):
        paths = tuple(_as_utf8(connection, path, encoding) for path in paths)
        encoding = "utf-8"
    source = read_csv(
        paths, len(names), delimiter=dialect.delimiter, encoding=encoding, skip=dialect.skip,
        markers=("",) if written else dialect.markers,
    )  # fmt: skip
    texts = [
        f"{_field(inner, dialect.markers, name in written, bool(written))} AS {inner}"
        for inner, name in zip(inner_names(len(names)), names, strict=True)
    ]
    small = size(paths) < SMALL_FILE_BYTES
    split = f"SELECT {', '.join(texts)} FROM {source}"
    if small and _typed_at_once(connection, split, names, dialect.types, types):
        return "SELECT * FROM typed"
    # The first lines, in small files all of them, are split once and kept while types are settled.
    limit = "" if small else f" LIMIT {_SAMPLED_LINES}"
    with translated(short(paths[0])):
        connection.execute(f"CREATE TEMP TABLE lines AS {split}{limit}")
        settled = _settled(connection, names, dialect.types, types)
        if not settled:
            raise SourceError(f"{short(paths[0])} has a header and no rows.")
        casts = [f"CAST(c{i} AS {SQL_TYPES[kind]}) AS c{i}" for i, kind in enumerate(settled)]
        typed = f"SELECT {', '.join(casts)} FROM "
        if small:
            connection.execute(f"CREATE TEMP TABLE typed AS {typed} lines")
        connection.execute("DROP TABLE lines")
    return "SELECT * FROM typed" if small else f"{typed} ({split})"


def _field(inner: str, markers: Sequence[str], written: bool, all_markers: bool) -> str:
    """A field as its text in the file, or without blanks and markers."""
    if written:
        return inner
    if all_markers:  # DuckDB has not removed any
        return without_markers(f"trim({inner})", markers)
    return trimmed_field(inner, markers)


def _as_utf8(connection: duckdb.DuckDBPyConnection, path: str, encoding: str) -> str:
    """A private copy in UTF-8, for encodings that DuckDB does not have."""
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
        raise SourceError(f"{short(path)} could not be copied ({reason(error)}).") from None
    return str(copy)


def _typed_at_once(
    connection: duckdb.DuckDBPyConnection,
    split: str,
    names: Sequence[str],
    likely: list[list[str]],
    types: Mapping[str, str],
) -> bool:
    """Read a small file into the table `typed` in one pass, if all lines have the likely types.

    False, and no table, where a later line has another type, a column without values in the first
    lines has one, or the file is not valid; the next reader reports why.
    """
    if len(names) > _MAX_TYPED_AT_ONCE:
        return False
    parts, unseen = [], []
    for place, (name, kinds) in enumerate(zip(names, likely, strict=True)):
        column = f"c{place}"
        if name in types:
            parts.append(f"CAST({column} AS {SQL_TYPES[types[name]]}) AS {column}")
        elif kinds and len(kinds) < len(PATTERNS):
            fits = f"{column} IS NULL OR {_shaped(column, kinds[0])}"
            cast = f"CAST({column} AS {SQL_TYPES[kinds[0]]})"
            parts.append(f"CASE WHEN {fits} THEN {cast} ELSE error('kind') END AS {column}")
        else:
            parts.append(column)
            unseen += [f"count({column})"] if kinds else []
    try:
        connection.execute(f"CREATE TEMP TABLE typed AS SELECT {', '.join(parts)} FROM ({split})")
        counted = ", ".join(["count(*)", *unseen])
        rows, *values = connection.execute(f"SELECT {counted} FROM typed").fetchall()[0]
    except duckdb.Error:
        return False
    if rows and not any(values):
        return True
    connection.execute("DROP TABLE typed")
    return False


def _settled(
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    likely: list[list[str]],
    types: Mapping[str, str],
) -> list[str]:
    """The type of each column: the requested one, or the narrowest that fits every line read."""
    kinds = _fitting(connection, "lines", likely)
    # A column without any value fits every type; it is text.
    found = [fit[0] if 0 < len(fit) < len(PATTERNS) else "text" for fit in kinds]
    return [types.get(name, kind) for name, kind in zip(names, found, strict=False)]


def _fitting(
    connection: duckdb.DuckDBPyConnection, table: str, kinds: list[list[str]]
) -> list[list[str]]:
    """Of the types that each column may have, those that fit; nothing if there are no rows."""
    fitting: list[list[str]] = []
    # DuckDB's time grows with the square of the expressions in a query: a few columns at a time.
    for start in range(0, len(kinds), _COLUMNS_AT_ONCE):
        block = kinds[start : start + _COLUMNS_AT_ONCE]
        tests = ["count(*)"]
        for i, candidates in enumerate(block, start):
            tests.append(f"count(c{i})")
            tests += [f"count(*) FILTER ({_test(f'c{i}', kind)})" for kind in candidates]
        row = list(connection.sql(f"SELECT {', '.join(tests)} FROM {table}").fetchall()[0])
        if row.pop(0) == 0:
            return []
        for candidates in block:
            there = row.pop(0)
            fits = [row.pop(0) == there for _ in candidates]
            fitting.append([kind for kind, fit in zip(candidates, fits, strict=True) if fit])
    return fitting


def _test(inner: str, kind: str) -> str:
    shape = _shaped(inner, kind)
    if kind == "integer":
        return shape
    return f"{shape} AND TRY_CAST({inner} AS {SQL_TYPES[kind]}) IS NOT NULL"


def _shaped(inner: str, kind: str) -> str:
    return f"regexp_full_match({inner}, {literal(PATTERNS[kind])})"
