"""SQLite files: other tables, definitions with texts, row numbers, remains of deleted rows."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote as quote_uri

import numpy as np

from crypsis.options import ReadOptions
from crypsis.tables.contents._content import Content
from crypsis.tables.contents._sqlite_pages import Pages, SqliteLayoutError
from crypsis.tables.contents._tables import chosen_table
from crypsis.tables.formats.sqlite import default_columns
from crypsis.tables.sql import quote

_MASTER = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master ORDER BY type, name"
_TOKENS = re.compile(r"\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|[^\W\d]\w*|\d+|\S", re.UNICODE)
_TYPES = frozenset(
    "int integer tinyint smallint mediumint bigint unsigned big int2 int8 character varchar varying "
    "nchar native nvarchar text clob blob real double precision float float4 float8 numeric decimal "
    "boolean bool date datetime timestamp time any char string varchar2 number long json".split()
)
_KEYWORDS = frozenset(
    "create table temp temporary if not exists null primary key unique autoincrement asc desc "
    "without rowid strict constraint index on collate nocase binary rtrim".split()
)
_SIGNS = frozenset("(),;.")
_INDEX_WORDS = frozenset("ix idx index i pk uq uk key unique autoindex".split())
_LARGEST_SIZE = 5
_SETTINGS = ("user_version", "application_id")


def sqlite_contents(path: str, reading: ReadOptions) -> Iterator[Content]:
    """What a SQLite file has besides the table; of a query, all tables of the file."""
    try:
        database = _opened(path)
        try:
            yield from _catalog(database, path, reading)
        finally:
            database.close()
    except sqlite3.Error:
        yield Content("database", "The catalog of the database could not be inspected.")
        return
    for suffix in ("-wal", "-journal"):
        if Path(path + suffix).exists():
            name = Path(path + suffix).name
            yield Content(f"file:{name}", f"File {name!r} has rows of the database.")


def sqlite_table(path: str, reading: ReadOptions) -> str:
    """The name of the table that is read, or nothing."""
    try:
        database = _opened(path)
        try:
            read = _read(database, reading)
        finally:
            database.close()
    except sqlite3.Error:
        read = None
    return "" if read is None else read[1]


def _opened(path: str) -> sqlite3.Connection:
    place = quote_uri(str(Path(path).absolute()))
    return sqlite3.connect(f"file:{place}?mode=ro", uri=True)


def _read(database: sqlite3.Connection, reading: ReadOptions) -> tuple[str, str] | None:
    named = _named(database.execute(_MASTER).fetchall())
    return chosen_table(reading, named, named)


def _named(master: list[tuple[str, str, str, int, str | None]]) -> list[tuple[str, str]]:
    return [
        ("main", name)
        for kind, name, *_ in master
        if kind in ("table", "view") and not name.startswith("sqlite_")
    ]


def _catalog(database: sqlite3.Connection, path: str, reading: ReadOptions) -> Iterator[Content]:
    master = database.execute(_MASTER).fetchall()
    read = _read(database, reading)
    for kind, name, of, _, sql in master:
        if kind == "index":
            if ("main", of) == read and not _plain_index(database, name, of, sql):
                yield Content(f"index:{name}", f"The definition of index {name!r} has more text.")
        elif ("main", name) != read:
            yield Content(f"{kind}:{name}", f"The database has the {kind} {name!r}.")
        elif kind == "table" and default_columns(database, name):
            text = f"Columns of table {name!r} have default values."
            yield Content(f"default:{name}", text, computed=True)
        elif kind == "table" and not _plain_table(database, name, sql):
            text = f"The definition of table {name!r} has more than columns and their types."
            yield Content(f"definition:{name}", text)
    for setting in _SETTINGS:
        if database.execute(f"PRAGMA {setting}").fetchone()[0]:
            yield Content(f"setting:{setting}", f"The database has the number {setting}.")
    if read is not None and not _numbered_in_order(database, read[1]):
        text = f"The rows of {read[1]!r} have numbers (rowid) that are not consecutive."
        yield Content("row-numbers", text)
    try:
        roots = [1, *(root for *_, root, _ in master if root)]
        free = Pages(np.memmap(path, np.uint8, "r")).leftovers(roots)
    except (SqliteLayoutError, OSError, ValueError):
        yield Content("pages", "The pages of the database could not be inspected.")
        return
    if free:
        text = "The database has remains of deleted rows, or bytes of no row (VACUUM removes them)."
        yield Content("deleted-rows", text)


def _plain_table(database: sqlite3.Connection, name: str, sql: str | None) -> bool:
    """Whether a definition has only columns, types and keys: no comments, defaults or checks."""
    columns = {row[1] for row in database.execute(f"PRAGMA table_xinfo({quote(name)})")}
    return _only(sql or "", {name, *columns})


def _plain_index(database: sqlite3.Connection, name: str, of: str, sql: str | None) -> bool:
    columns = [row[2] for row in database.execute(f"PRAGMA index_info({quote(name)})")]
    if sql is None:  # made by SQLite for a key
        return True
    words = set(re.findall(r"[^\W_]+", name.casefold()))
    about = set(re.findall(r"[^\W_]+", " ".join([of, *map(str, columns)]).casefold()))
    return words <= _INDEX_WORDS | about and _only(sql, {name, of, *map(str, columns)})


def _only(sql: str, names: set[str]) -> bool:
    """Whether a definition consists of these names, types, sizes and words for keys."""
    known = {name.casefold() for name in names}
    for token in _TOKENS.findall(sql):
        bare = token[1:-1].replace('""', '"') if token[0] in '"`[' else token
        word = bare.casefold()
        allowed = word in known or (token == bare and word in _TYPES | _KEYWORDS | _SIGNS)
        if not (allowed or (token.isdigit() and len(token) <= _LARGEST_SIZE)):
            return False
    return True


def _numbered_in_order(database: sqlite3.Connection, table: str) -> bool:
    """Whether the numbers of the rows are consecutive, or a column of the table."""
    columns = database.execute(f"PRAGMA table_info({quote(table)})").fetchall()
    keys = [row for row in columns if row[5]]
    if len(keys) == 1 and str(keys[0][2]).casefold() == "integer":
        return True
    if {str(row[1]).casefold() for row in columns} >= {"rowid", "oid", "_rowid_"}:
        return True  # hidden by columns of these names
    alias = next(
        one for one in ("rowid", "oid", "_rowid_") if one not in {str(row[1]).casefold() for row in columns}
    )
    try:
        count, first, last = database.execute(
            f"SELECT count(*), min({alias}), max({alias}) FROM {quote(table)}"
        ).fetchone()
    except sqlite3.OperationalError:  # a view, or a table without row numbers
        return True
    # Views have no row numbers, and SQLite up to 3.35 reads them as missing.
    return not count or first is None or last - first + 1 == count
