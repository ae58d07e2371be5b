"""Values that are lists: "flu; HIV; gout" discloses each of its parts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from crypsis.array_types import Flags
from crypsis.hierarchies.labels import as_text
from crypsis.inference.conditional import Joint

_SEPARATORS = (r"[;|\n\t]+", r",", r"\s*[/&+]\s*", r"\s+(?:and|und|et|y|with|mit)\s+", r"\s+")
_WORDS = _SEPARATORS[-1]
_CODE = re.compile(r"[^\W_]*(?:\d[^\W\d_]|[^\W\d_]\d)[\w.-]*")
_MAX_PARTS = 60
"""Parts of lists that are states; of more those that fill the largest share of a class."""
_MIN_REPEATED_SHARE = 0.5
"""At least so many of the parts of all lists occur in several lists."""


def listed_parts(table: Joint) -> list[tuple[str, Flags]]:
    """The parts of the values, where these are lists, each with the values that contain it.

    JSON arrays and texts with one of the usual separators are lists if their parts occur in
    several of them. Of more than 60 parts those with the largest share in a class.
    """
    parts = _split(table.values.to_pylist())
    if parts is None:
        return []
    places: dict[str, list[int]] = {}
    for position, part in enumerate(parts):
        for element in part:
            places.setdefault(element, []).append(position)
    # A part that is a value of its own and in no list is counted with the single values.
    several = [part for part, where in places.items() if len(where) > 1]
    masks = np.zeros((len(several), len(parts)), bool)
    for row, element in enumerate(several):
        masks[row, places[element]] = True
    if len(several) > _MAX_PARTS:
        largest = [_largest_share(table, mask) for mask in masks]
        kept = np.argsort(-np.array(largest), kind="stable")[:_MAX_PARTS]
        several, masks = [several[i] for i in kept], masks[kept]
    return list(zip(several, masks, strict=True))


def _largest_share(table: Joint, mask: Flags) -> float:
    inside = np.bincount(table.member, table.counts * mask[table.codes])
    return float((inside / table.sizes).max())


def _split(values: Sequence[Any]) -> list[frozenset[str]] | None:
    """The parts of each value; None unless the values are lists."""
    arrays = [_array(value) for value in values]
    if sum(array is not None for array in arrays) >= 2:
        lists = [frozenset() if array is None else array for array in arrays]
        return lists if _repeated(lists) else None
    texts = [value if isinstance(value, str) else None for value in values]
    lists = [frozenset() if text is None else frozenset([_plain(text)]) for text in texts]
    for separator in _SEPARATORS:
        new = [_divided(elements, separator) for elements in lists]
        longer = [
            elements for elements, before in zip(new, lists, strict=True) if len(elements) > len(before)
        ]
        if separator == _WORDS and not _codes(longer):
            continue
        if len(longer) >= 2 and _repeated(longer):
            lists = new
    return lists if any(len(elements) > 1 for elements in lists) else None


def _array(value: Any) -> frozenset[str] | None:
    """The elements of an array, also of one written as JSON."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if isinstance(value, dict):
        value = [f"{key}: {_shown(element)}" for key, element in value.items()]
    if not isinstance(value, list | tuple):
        return None
    return frozenset(_plain(_shown(element)) for element in value if element is not None)


def _shown(value: Any) -> str:
    return json.dumps(value) if isinstance(value, list | dict) else as_text(value)


def _divided(parts: frozenset[str], separator: str) -> frozenset[str]:
    """Each part divided further."""
    pieces = (_plain(piece) for part in parts for piece in re.split(separator, part))
    return frozenset(piece for piece in pieces if piece)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split(" ")).strip(" \"'()[]{}")


def _repeated(lists: Sequence[frozenset[str]]) -> bool:
    """Whether parts occur in several lists."""
    counts: dict[str, int] = {}
    for elements in lists:
        for element in elements:
            counts[element] = counts.get(element, 0) + 1
    total = sum(counts.values())
    return total > 0 and sum(n for n in counts.values() if n > 1) >= _MIN_REPEATED_SHARE * total


def _codes(lists: Sequence[frozenset[str]]) -> bool:
    """Whether the parts are codes, such as B20: only these are divided by blanks."""
    parts = [element for elements in lists for element in elements]
    return bool(parts) and sum(bool(_CODE.fullmatch(part)) for part in parts) >= 0.8 * len(parts)
