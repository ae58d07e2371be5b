"""The exceptions of crypsis, one tree.

    CrypsisError
    ├── InputError            what was given cannot be used
    │   ├── SourceError         a file, table or connection cannot be read
    │   ├── ColumnError         a column does not exist, or is not fit for the question
    │   ├── RoleError           the roles of the columns contradict each other
    │   └── ParameterError      a number or option is out of its range
    ├── OutputError           a result cannot be written where it should go
    ├── TooLarge              exact work is out of reach; the message names what to use instead
    ├── MissingPart           an optional part is not installed
    ├── PromiseBroken         a release misses the guarantee it was asked for
    └── Cancelled             someone asked for the work to stop

A message says what was given, what was expected and what to do next. It never quotes a data value.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class CrypsisError(Exception):
    """The root of everything crypsis raises on purpose."""


class InputError(CrypsisError, ValueError):
    """What was given cannot be used."""


class SourceError(InputError):
    """A file, table or connection cannot be read."""


class ColumnError(InputError):
    """A column does not exist, or is not fit for the question."""


class RoleError(InputError):
    """The roles of the columns contradict each other."""


class ParameterError(InputError):
    """A number or option is out of its range."""


class OutputError(CrypsisError, OSError):
    """A result cannot be written where it should go."""


class TooLarge(CrypsisError):  # noqa: N818 - reads as what it is: "raise TooLarge(...)"
    """Exact work is out of reach; the message names what to use instead."""


class MissingPart(CrypsisError, ImportError):  # noqa: N818
    """An optional part is not installed; the message says how to install it."""


class PromiseBroken(CrypsisError):  # noqa: N818
    """A release misses the guarantee it was asked for, so it is not handed over."""


class Cancelled(CrypsisError):  # noqa: N818
    """Someone asked for the work to stop."""


def unknown_columns(asked: Iterable[str], there: Iterable[str]) -> ColumnError:
    """The error for columns that are not there: names them, the nearest, and those that are.

    >>> print(unknown_columns(["agee"], ["age", "zip"]))
    There is no column 'agee' (did you mean 'age'?). The columns are: 'age', 'zip'.
    """
    names = list(there)
    missing = [name for name in dict.fromkeys(asked) if name not in names]
    named = []
    for name in missing:
        near = get_close_matches(name, names, n=1)
        named.append(f"{name!r}" + (f" (did you mean {near[0]!r}?)" if near else ""))
    listed = ", ".join(repr(name) for name in names[:60])
    more = f" and {len(names) - 60} more" if len(names) > 60 else ""
    noun = "column" if len(missing) == 1 else "columns"
    return ColumnError(f"There is no {noun} {', '.join(named)}. The columns are: {listed}{more}.")
