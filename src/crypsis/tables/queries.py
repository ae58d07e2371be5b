"""Queries that users give: one statement that reads."""

from __future__ import annotations

import re

from crypsis.errors import ParameterError

_TOKEN = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` | (\$\w*\$).*?\1
      | --[^\n]* | /\*.*?\*/ | \w+ | \s+ | .""",
    re.VERBOSE | re.DOTALL,
)
_READING = ("select", "with", "values", "table", "from")
_WRITING = ("insert", "update", "delete", "merge", "into")


def one_query(text: str) -> str:
    """The query without comments and final semicolons, if it is one statement that only reads.

    >>> one_query("SELECT * FROM t; -- all of it")
    'SELECT * FROM t'
    """
    tokens = [match[0] for match in _TOKEN.finditer(text)]
    plain = [" " if token.startswith(("--", "/*")) else token for token in tokens]
    while plain and (plain[-1] == ";" or plain[-1].isspace()):
        plain.pop()
    words = [token.lower() for token in plain if not token.isspace()]
    first = next((word for word in words if word != "("), "")
    if ";" in words or first not in _READING or any(word in _WRITING for word in words):
        raise ParameterError(
            "The query must be exactly one SELECT statement that writes nothing.",
            code="not-one-select",
            parameter="query",
            hint="Write a name that is also the name of a statement between quotes.",
        )
    return "".join(plain).strip()
