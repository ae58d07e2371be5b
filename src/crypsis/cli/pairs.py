"""Options of single columns, written COLUMN=..., and options that are pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def texts(flag: str, typed: Sequence[str] | None) -> dict[str, str]:
    """Columns with a text each."""
    from crypsis.errors import ParameterError

    pairs = {}
    for pair in typed or ():
        name, equals, value = pair.rpartition("=")
        if not equals or not name:
            raise ParameterError(f"{flag} is written COLUMN=...; {pair!r} was given.")
        pairs[name] = value
    return pairs


def numbers(flag: str, typed: Sequence[str] | None) -> dict[str, float]:
    """Columns with a number each."""
    from crypsis.errors import ParameterError

    pairs = texts(flag, typed)
    try:
        return {name: float(value) for name, value in pairs.items()}
    except ValueError:
        raise ParameterError(f"{flag} needs a number after the equals sign.") from None


def hierarchies(flag: str, typed: Sequence[str] | None) -> dict[str, Any]:
    """Columns with the hierarchy in a file each."""
    from crypsis.hierarchies import Hierarchy

    return {name: Hierarchy.read(path) for name, path in texts(flag, typed).items()}


def recursive_pair(typed: str | None) -> tuple[float, int] | None:
    """The c and l of recursive (c,l)-diversity, written c,l."""
    from crypsis.errors import ParameterError

    if typed is None:
        return None
    try:
        factor, places = typed.split(",")
        return float(factor), int(places)
    except ValueError:
        raise ParameterError("--recursive-diversity is a number and an integer, such as 3,2.") from None
