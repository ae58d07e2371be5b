"""Pieces of SQL as DuckDB understands it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crypsis.errors import SourceError
from crypsis.tables.schema import inner_names

SQL_TYPES = {"text": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "date": "DATE", "time": "TIMESTAMP"}
"""The column types of `ReadOptions`."""


def quote(name: str) -> str:
    """A name as an SQL identifier.

    >>> print(quote('a"b'))
    "a""b"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def file_list(paths: Sequence[str]) -> str:
    """Paths as an SQL list in which each is that one file, whatever signs of a glob it has.

    >>> file_list(["w[1].parquet", "x*.parquet"])
    "['w[[]1].parquet', 'x[*].parquet']"
    """
    return f"[{', '.join(literal(_one_file(path)) for path in paths)}]"


def _one_file(path: str) -> str:
    signs = r"[*\[]" if path.startswith(("http://", "https://")) else r"[*?\[]"
    escaped = re.sub(signs, lambda sign: f"[{sign[0]}]", path)
    if escaped != path and "\\" in path:  # which DuckDB takes for a separator within a glob
        raise SourceError(
            f"The file name {path.rsplit('/', 1)[-1]!r} has a backslash and signs of a glob.",
            code="file-name",
            hint="Rename the file.",
        )
    return escaped


def read_csv(
    paths: Sequence[str],
    width: int,
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
    skip: int = 1,
    markers: Sequence[str] = ("",),
) -> str:
    """The table function that splits CSV files into `width` columns of text, c0, c1, ..."""
    columns = ", ".join(f"'{inner}': 'VARCHAR'" for inner in inner_names(width))
    # Without markers nothing is missing, not even an empty field; DuckDB requires some text here.
    missing = ", ".join(map(literal, markers or ("\x01",)))
    code = "latin-1" if encoding == "iso8859-1" else encoding
    return (
        f"read_csv({file_list(paths)}, auto_detect = false, columns = {{{columns}}}, "
        f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', header = false, "
        f"skip = {skip}, strict_mode = true, null_padding = false, nullstr = [{missing}], "
        f"encoding = '{code}')"
    )


def trimmed_field(inner: str, markers: Sequence[str]) -> str:
    """A field without blanks around it; markers with blanks around them are missing values, too."""
    bare = f"trim({inner})"
    changed = without_markers(bare, markers)
    return f"CASE WHEN strlen({inner}) = strlen({bare}) THEN {inner} ELSE {changed} END"


def without_markers(text: str, markers: Sequence[str]) -> str:
    """The text, or NULL where it is a missing-value marker.

    By a pattern and not by IN: DuckDB makes a join of a list, and a join loses the order of the
    rows, on which files that go together row by row depend.
    """
    if not markers:
        return text
    pattern = "|".join("".join(map(_plain_character, marker)) for marker in markers)
    return f"CASE WHEN regexp_full_match({text}, {literal(pattern)}) THEN NULL ELSE {text} END"


def _plain_character(character: str) -> str:
    plain = character.isascii() and character.isalnum()
    return character if plain else rf"\x{{{ord(character):x}}}"
