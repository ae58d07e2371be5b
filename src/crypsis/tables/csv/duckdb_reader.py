"""CSV files that DuckDB splits; column types are settled here, by every line.

Every field is read as text, stripped of surrounding blanks and compared with the missing-value
markers; then a column becomes integers, numbers, dates or times if all its values have that form.
"""

from __future__ import annotations

import codecs
import weakref
from collections.abc import Collection, Mapping, Sequence

import duckdb

from crypsis.errors import SourceError
from crypsis.files import PrivateFolder
from crypsis.tables.csv.dialect import Dialect
from crypsis.tables.csv.files import PACKED, READ_BY_ENGINE, reason, short, size, stream, wrong_encoding
from crypsis.tables.csv.types import Notation, settled
from crypsis.tables.duckdb.connection import private_folder, translated
from crypsis.tables.schema import inner_names
from crypsis.tables.sql import SQL_TYPES, literal, read_csv, trimmed_field, without_markers

SMALL_FILE_BYTES = 256_000_000
"""Files up to this size are read once, with every line."""
_SAMPLED_LINES = 200_000
"""Lines of a large file that settle its types."""
_TEXT = Notation("text")
_COLUMNS_AT_ONCE = 20
"""Columns whose types are tested in a query: its time grows with the square of the expressions."""
_MAX_TYPED_COLUMNS = 100
"""A small file with more columns is not read in one pass."""


def open_csv(
    connection: duckdb.DuckDBPyConnection,
    dialect: Dialect,
    types: Mapping[str, str],
    written: Collection[str] = (),
) -> tuple[str, dict[str, Notation]]:
    """The SQL that yields the table's columns as c0, c1, ...; how their values are written.

    The columns `written` are texts as they are in the file: with blanks, and with missing-value
    markers, of which only the empty text is missing.
    """
    paths, encoding, names = dialect.paths, dialect.encoding, dialect.names
    packed = any(
        path.lower().endswith(PACKED) and not path.lower().endswith(READ_BY_ENGINE) for path in paths
    )
    if packed or encoding not in ("utf-8", "iso8859-1"):
        paths = tuple(_as_utf8(connection, path, encoding) for path in paths)
        encoding = "utf-8"
    source = read_csv(
        paths,
        len(names),
        delimiter=dialect.delimiter,
        encoding=encoding,
        skip=dialect.skip,
        markers=("",) if written else dialect.markers,
    )
    texts = [
        f"{_field(inner, dialect.markers, name in written, bool(written))} AS {inner}"
        for inner, name in zip(inner_names(len(names)), names, strict=True)
    ]
    small = size(paths) < SMALL_FILE_BYTES
    split = f"SELECT {', '.join(texts)} FROM {source}"
    likely = dict(zip(names, dialect.types, strict=True))
    notations = _typed_at_once(connection, split, likely, types) if small else None
    if notations is not None:
        return "SELECT * FROM typed", notations
    # The first lines, in small files all of them, are split once and kept while types are settled.
    limit = "" if small else f" LIMIT {_SAMPLED_LINES}"
    with translated(short(dialect.paths[0])):
        connection.execute(f"CREATE TEMP TABLE lines AS {split}{limit}")
        notations = _settled(connection, likely, types)
        if not notations:
            raise SourceError(f"{short(dialect.paths[0])} has a header and no rows.")
        casts = [f"{_cast(f'c{i}', notation)} AS c{i}" for i, notation in enumerate(notations.values())]
        typed = f"SELECT {', '.join(casts)} FROM "
        if small:
            connection.execute(f"CREATE TEMP TABLE typed AS {typed} lines")
        connection.execute("DROP TABLE lines")
    return "SELECT * FROM typed" if small else f"{typed} ({split})", notations


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
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = 1
    try:
        with stream(path) as source, copy.open("w", encoding="utf-8", newline="") as target:
            while chunk := bytes(source.read(1 << 20)):
                text = _decoded(decoder, chunk, path, encoding, lines)
                lines += text.count("\n")
                target.write(text)
            target.write(_decoded(decoder, b"", path, encoding, lines))
    except OSError as error:
        raise SourceError(f"{short(path)} could not be copied ({reason(error)}).") from None
    return str(copy)


def _decoded(decoder: codecs.IncrementalDecoder, chunk: bytes, path: str, encoding: str, line: int) -> str:
    """The text of a chunk that begins in a line, or an error with the line that is broken."""
    try:
        return decoder.decode(chunk, final=not chunk)
    except UnicodeError as error:
        before = getattr(error, "object", b"")[: getattr(error, "start", 0)]
        line += before.decode(encoding, "ignore").count("\n")
        raise wrong_encoding(path, line, encoding) from None


def _typed_at_once(
    connection: duckdb.DuckDBPyConnection,
    split: str,
    likely: Mapping[str, list[Notation]],
    types: Mapping[str, str],
) -> dict[str, Notation] | None:
    """Read a small file into the table `typed` in one pass, if all lines have the likely types.

    None, and no table, where a later line has another type, a column without values in the first
    lines has one, or the file is not valid; the next reader reports why.
    """
    if len(likely) > _MAX_TYPED_COLUMNS:
        return None
    parts, unseen, notations = [], [], {}
    for position, (name, kinds) in enumerate(likely.items()):
        column, notation = f"c{position}", settled(kinds)
        if name in types:
            notations[name] = notation or _asked(name, types[name], kinds)
            parts.append(f"{_cast(column, notations[name])} AS {column}")
        elif notation is not None:
            notations[name] = notation
            fits = f"{column} IS NULL OR {_shaped(column, notation)}"
            cast = _cast(column, notation)
            parts.append(f"CASE WHEN {fits} THEN {cast} ELSE error('kind') END AS {column}")
        else:
            notations[name] = _TEXT
            parts.append(column)
            unseen += [f"count({column})"] if kinds else []
    try:
        connection.execute(f"CREATE TEMP TABLE typed AS SELECT {', '.join(parts)} FROM ({split})")
        counted = ", ".join(["count(*)", *unseen])
        rows, *values = connection.execute(f"SELECT {counted} FROM typed").fetchall()[0]
    except duckdb.Error:
        return None
    if rows and not any(values):
        return notations
    connection.execute("DROP TABLE typed")
    return None


def _asked(name: str, kind: str, fits: Sequence[Notation]) -> Notation:
    """The notation of a column whose type was given, where the values do not show one."""
    if len({fit.form for fit in fits if "%" in fit.form}) > 1:
        raise SourceError(
            f"The dates of column {name!r} fit several orders of day and month.",
            code="date-order",
            parameter="date_format",
            hint="Set {date_format=DD/MM/YYYY} or {date_format=MM/DD/YYYY}.",
        )
    return Notation(kind)


def _settled(
    connection: duckdb.DuckDBPyConnection, likely: Mapping[str, list[Notation]], types: Mapping[str, str]
) -> dict[str, Notation]:
    """How each column is written: in the requested type, or the narrowest that fits every line."""
    kinds = _fitting(connection, "lines", list(likely.values()))
    return {
        name: settled(fit) or (_asked(name, types[name], fit) if name in types else _TEXT)
        for name, fit in zip(likely, kinds, strict=False)
    }


def _fitting(
    connection: duckdb.DuckDBPyConnection, table: str, kinds: list[list[Notation]]
) -> list[list[Notation]]:
    """Of the notations that each column may have, those that fit; nothing if there are no rows."""
    fitting: list[list[Notation]] = []
    for start in range(0, len(kinds), _COLUMNS_AT_ONCE):
        block = kinds[start : start + _COLUMNS_AT_ONCE]
        tests = ["count(*)"]
        for i, candidates in enumerate(block, start):
            tests.append(f"count(c{i})")
            tests += [f"count(*) FILTER ({_test(f'c{i}', candidate)})" for candidate in candidates]
        row = list(connection.sql(f"SELECT {', '.join(tests)} FROM {table}").fetchall()[0])
        if row.pop(0) == 0:
            return []
        for candidates in block:
            filled = row.pop(0)
            fits = [row.pop(0) == filled for _ in candidates]
            fitting.append([candidate for candidate, fit in zip(candidates, fits, strict=True) if fit])
    return fitting


def _cast(inner: str, notation: Notation) -> str:
    """The values of a column in their type."""
    kind, form = SQL_TYPES[notation.kind], notation.form
    if "%" in form:
        return f"CAST(strptime({inner}, {literal(form)}) AS {kind})"
    return f"CAST({_with_point(inner, form)} AS {kind})"


def _with_point(inner: str, form: str) -> str:
    """A number with a decimal point."""
    if not form:
        return inner
    bare = f"replace({inner}, '.', '')" if form == ".," else inner
    return f"replace({bare}, ',', '.')"


def _test(inner: str, notation: Notation) -> str:
    shape, form = _shaped(inner, notation), notation.form
    if notation.kind == "integer":
        return shape
    if "%" in form:
        return f"{shape} AND try_strptime({inner}, {literal(form)}) IS NOT NULL"
    kind = SQL_TYPES[notation.kind]
    return f"{shape} AND TRY_CAST({_with_point(inner, form)} AS {kind}) IS NOT NULL"


def _shaped(inner: str, notation: Notation) -> str:
    return f"regexp_full_match({inner}, {literal(notation.pattern)})"
