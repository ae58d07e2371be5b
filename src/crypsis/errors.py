"""The exceptions of crypsis, one tree.

    CrypsisError
    ├── InputError                what was given cannot be used
    │   ├── SourceError             a file, table or connection could not be read
    │   ├── ColumnError             a column does not exist, or does not fit the measure
    │   ├── RoleError               the roles of the columns contradict each other
    │   └── ParameterError          a parameter is out of its range
    ├── OutputError               a result could not be written
    ├── TooLargeError             the exact computation is out of reach
    ├── MissingDependencyError    an optional dependency is not installed
    ├── RequirementsNotMetError   a release does not meet its privacy requirements
    └── CancelledError            the computation was cancelled

A message states what is wrong and where; it never quotes a data value. What to do about it is the
`hint`, in which options are named in braces, because every surface has its own words for them:
`"Set {quasi_identifiers}."` is `quasi_identifiers=...` in Python, `--qi` on the command line and
"quasi-identifiers" on the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

_OPTION = re.compile(r"\{([a-z_]+)(?:=([^{}]*))?\}")


class CrypsisError(Exception):
    """The root of everything crypsis raises on purpose.

    Parameters
    ----------
    message : str
        What is wrong and where, without data values and without words of one surface.
    code : str, optional
        A stable name of the fault for programs; by default that of the class.
    hint : str
        What to do, with options in braces: `"Set {encoding=latin-1}."`
    **parameters
        What the fault is about, by name, such as `columns=("age",)`.
    """

    code = "error"

    def __init__(
        self, message: str = "", *, code: str | None = None, hint: str = "", **parameters: Any
    ) -> None:
        super().__init__(message)
        self.message, self.hint, self.parameters = message, hint, parameters
        if code is not None:
            self.code = code

    def text(self, option: Callable[[str, str | None], str]) -> str:
        """The message and the hint, with each option in the words of a surface."""
        return f"{self.message} {render_hint(self.hint, option)}".strip()

    def __str__(self) -> str:
        return self.text(python_option)


class InputError(CrypsisError, ValueError):
    """What was given cannot be used."""

    code = "input"


class SourceError(InputError):
    """A file, table or connection could not be read."""

    code = "source"


class ColumnError(InputError):
    """A column does not exist, or does not fit the measure."""

    code = "column"


class RoleError(InputError):
    """The roles of the columns contradict each other."""

    code = "role"


class ParameterError(InputError):
    """A parameter is out of its range."""

    code = "parameter"


class OutputError(CrypsisError, OSError):
    """A result could not be written."""

    code = "output"


class TooLargeError(CrypsisError):
    """The exact computation is out of reach; the hint names what to use instead."""

    code = "too-large"


class MissingDependencyError(CrypsisError, ImportError):
    """An optional dependency is not installed; the hint says how to install it."""

    code = "missing-dependency"


class RequirementsNotMetError(CrypsisError):
    """A release does not meet its privacy requirements, so it is not handed over."""

    code = "requirements-not-met"


class CancelledError(CrypsisError):
    """The computation was cancelled."""

    code = "cancelled"


def python_option(name: str, value: str | None) -> str:
    """An option as a keyword argument; a note about a column is in the roles file.

    >>> python_option("encoding", "latin-1"), python_option("columns", None)
    ("encoding='latin-1'", 'columns=...')
    """
    if name == "note":
        return f"{value} in the roles file"
    if value is None:
        return f"{name}=..."
    plain = value in ("True", "False") or value.replace(".", "", 1).isdecimal()
    return f"{name}={value if plain or value[:1] in '[{' else repr(value)}"


def render_hint(hint: str, option: Callable[[str, str | None], str]) -> str:
    """A hint with its options in the words of a surface.

    >>> render_hint("Set {encoding=latin-1}.", python_option)
    "Set encoding='latin-1'."
    """
    return _OPTION.sub(lambda match: option(match[1], match[2]), hint)


def unknown_columns(columns: Iterable[str], available: Iterable[str], *, hint: str = "") -> ColumnError:
    """The error for columns that do not exist: names them, the nearest ones, and those there are.

    >>> print(unknown_columns(["agee"], ["age", "zip"]))
    Column 'agee' does not exist (did you mean 'age'?). The columns are: 'age', 'zip'.
    """
    names = list(available)
    missing = [name for name in dict.fromkeys(columns) if name not in names]
    nearest = {name: get_close_matches(name, names, n=1) for name in missing}
    guesses = ", ".join(repr(matches[0]) for matches in nearest.values() if matches)
    listed = ", ".join(repr(name) for name in names[:60])
    more = f" and {len(names) - 60} more" if len(names) > 60 else ""
    parts = [part.strip() for name in missing for part in name.split(",")]
    if len(parts) > len(missing) and all(part in names for part in parts):
        hint = "These are several columns: give each its own option or item of a list."
    noun, verb = ("Column", "does") if len(missing) == 1 else ("Columns", "do")
    meant = f" (did you mean {guesses}?)" if guesses else ""
    return ColumnError(
        f"{noun} {', '.join(map(repr, missing))} {verb} not exist{meant}. The columns are: {listed}{more}.",
        code="unknown-column",
        columns=tuple(missing),
        hint=hint,
    )
