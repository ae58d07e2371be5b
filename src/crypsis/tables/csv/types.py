"""The column types of a CSV file: integer, number, date, time, else text.

The first lines show which are possible; every line has to agree, or at least the first 200,000 of a
large file. Numbers with leading zeros (zip codes) and those of more than 18 digits stay text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from crypsis.errors import unknown_columns

PATTERNS = {
    "integer": r"[+-]?(0|[1-9][0-9]{0,17})",
    "number": r"[+-]?((0|[1-9][0-9]{0,17})(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?",
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "time": r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?",
}
_SHAPES = {kind: re.compile(pattern) for kind, pattern in PATTERNS.items()}


def possible_types(
    rows: Sequence[Sequence[str]],
    markers: Sequence[str],
    names: Sequence[str],
    types: Mapping[str, str],
) -> list[list[str]]:
    """The types that each column may have by the first lines; all, if it has no value there."""
    for name in types:
        if name not in names:
            raise unknown_columns([name], names)
    candidates = []
    for place, name in enumerate(names):
        fields = {row[place] for row in rows if place < len(row)}
        seen = {field.strip() for field in fields if field not in markers} - set(markers)
        fits = [kind for kind, shape in _SHAPES.items() if all(map(shape.fullmatch, seen))]
        candidates.append([] if name in types else fits)
    return candidates
