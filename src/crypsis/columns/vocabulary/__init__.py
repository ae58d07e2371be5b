"""Words, names of people and values by which columns are recognized: data files, each read once."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def vocabulary(name: str) -> dict[str, Any]:
    """The content of a data file of this package."""
    return tomllib.loads((files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))


def words(text: str) -> frozenset[str]:
    """The words of a text.

    >>> sorted(words("zip  plz"))
    ['plz', 'zip']
    """
    return frozenset(text.split())


def phrases(text: str) -> list[str]:
    """What stands between commas, in the order of the text.

    >>> phrases("first name, zip")
    ['first name', 'zip']
    """
    return [" ".join(phrase.split()) for phrase in text.split(",")]
