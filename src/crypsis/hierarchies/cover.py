"""Which values a released label covers: an interval, a prefix, a date, a node of a hierarchy."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from crypsis.array_types import Flags
from crypsis.hierarchies._hierarchy import Hierarchy
from crypsis.hierarchies.labels import TOP, UNITS, as_text, date_label

_NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_BETWEEN = re.compile(rf"^(>?){_NUMBER}(?: to | bis | ?[-–—] ?){_NUMBER}$")
_END = rf"({_NUMBER[1:-1]}|-?inf)"
_BRACKETS = re.compile(rf"^([\[\](]) ?{_END} ?[,;] ?{_END} ?([\])\[])$")
_BELOW = re.compile(rf"^(<=?|≤) ?{_NUMBER}$")
_ABOVE = re.compile(rf"^(>=?|≥) ?{_NUMBER}$")
_AND_MORE = re.compile(rf"^{_NUMBER} ?(?:\+|(?:and|or) (?:more|over|above|older))$")
_PREFIX = re.compile(r"^([^*]+)(\*+)$")
_PERIOD = re.compile(r"^\d{1,4}(s|-[QH]\d)$")
_OTHER = re.compile(r"^\(*other\)*$")
_ALL = "all"


def covered(
    labels: Sequence[Any],
    values: Sequence[Any],
    hierarchy: Hierarchy | None = None,
    *,
    any_other: bool = False,
) -> Flags:
    """For each label of a release which of the values it covers.

    A missing label covers every value: it was suppressed, or was missing. A label covers the values that are
    equal to it, below it in the hierarchy, in its interval, with its prefix or in its month, quarter,
    half-year, year, decade or period of years. "other" covers the values that no other label is equal to;
    with `any_other` all, because after local recoding a value may stand beside the label that covers it in
    other records. "all" covers all. A label that is none of these, such as a number that nobody has, covers
    no value, so that no class of the population is counted larger than it is.

    >>> covered(["<=29", "30-39", "021**", "other", None], [25, 33, "02138"]).astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1]]
    >>> covered([99, "Europe"], [25, 33]).astype(int).tolist()
    [[0, 0], [0, 0]]
    """
    texts = [None if value is None else as_text(value) for value in values]
    present = np.array([text is not None for text in texts], bool)
    below, dated = _below(hierarchy), _by_date(values)
    named = {as_text(label) for label in labels if label is not None}
    covers = np.zeros((len(labels), len(values)), bool)
    for i, label in enumerate(labels):
        if label is None or label == TOP:
            covers[i] = True
            continue
        text = as_text(label)
        mine = np.array([value_text == text for value_text in texts], bool)
        group = below.get(text)
        if group is not None:
            mine |= np.array([text in group for text in texts], bool)
        inside = None if dated else _inside(text, values, texts)
        if inside is not None:
            mine |= inside
        elif text in dated:
            mine[dated[text]] = True
        elif group is None and not mine.any() and _OTHER.match(text):
            mine = present & np.array([any_other or text not in named for text in texts], bool)
        elif group is None and not mine.any() and text == _ALL:
            mine = present
        covers[i] = mine
    return covers


def ends_of(label: str) -> tuple[float, float] | None:
    """The ends of a label that is an interval or a number; None if it is neither.

    >>> ends_of("30-39"), ends_of(">=80"), ends_of("41.5"), ends_of("cook")
    ((30.0, 39.0), (80.0, inf), (41.5, 41.5), None)
    """
    interval = interval_of(label)
    if interval is not None:
        return interval[0], interval[1]
    number = _number(label)
    return None if math.isnan(number) else (number, number)


def _below(hierarchy: Hierarchy | None) -> dict[str, set[str]]:
    if hierarchy is None:
        return {}
    values_by_label: dict[str, set[str]] = {}
    for level in range(1, hierarchy.height + 1):
        for label, values in hierarchy.groups(level).items():
            values_by_label.setdefault(label, set()).update(values)
    return values_by_label


def _inside(label: str, values: Sequence[Any], texts: Sequence[str | None]) -> Flags | None:
    """The values in an interval or with a prefix; None if the label is neither."""
    interval = interval_of(label)
    if interval is not None:
        low, high, open_low, open_high = interval
        numbers = np.array([_number(value) for value in values])
        above = numbers > low if open_low else numbers >= low
        return np.asarray(above & (numbers < high if open_high else numbers <= high), bool)
    prefix = _PREFIX.match(label)
    if prefix is not None:
        head, width = prefix.group(1), len(label)
        padded = [
            None if text is None else text if isinstance(value, str) else text.zfill(width)
            for value, text in zip(values, texts, strict=True)
        ]
        return np.array([text is not None and text.startswith(head) for text in padded], bool)
    return None


def _by_date(values: Sequence[Any]) -> dict[str, list[int]]:
    """For each label of a unit of time the places of its dates; nothing if the values are none."""
    places: dict[str, list[int]] = {}
    for position, value in enumerate(values):
        if hasattr(value, "year"):
            for unit in UNITS:
                places.setdefault(date_label(value, unit), []).append(position)
    return places


def interval_of(label: str) -> tuple[float, float, bool, bool] | None:
    """The ends of an interval and whether each is open; None if the label is none.

    Of those that other tools write, too.

    >>> interval_of("[20, 40[")
    (20.0, 40.0, False, True)
    >>> interval_of("20 – 39"), interval_of("(60.0, inf]") == interval_of(">60")
    ((20.0, 39.0, False, False), True)
    >>> interval_of("60+") == interval_of(">=60")
    True
    """
    brackets = _BRACKETS.match(label)
    if brackets is not None:
        low, high = float(brackets.group(2)), float(brackets.group(3))
        open_high = brackets.group(4) != "]" and high < math.inf
        return (low, high, brackets.group(1) != "[", open_high) if low <= high else None
    between = _BETWEEN.match(label)
    if between is not None:
        low, high = float(between.group(2)), float(between.group(3))
        return (low, high, bool(between.group(1)), False) if low <= high else None
    below, above = _BELOW.match(label), _ABOVE.match(label)
    if below is not None:
        return -math.inf, float(below.group(2)), False, below.group(1) == "<"
    if above is not None:
        return float(above.group(2)), math.inf, above.group(1) == ">", False
    more = _AND_MORE.match(label)
    if more is not None:
        return float(more.group(1)), math.inf, False, False
    return None


def is_label(text: str) -> bool:
    """Whether a text is a label of several values: an interval, a prefix, a period, all.

    >>> [is_label(text) for text in ("30-39", ">=80", "021**", "1980s", "1987-Q3", "*")]
    [True, True, True, True, True, True]
    >>> [is_label(text) for text in ("30", "cook", "2020-01-31", "021")]
    [False, False, False, False]
    """
    return (
        text == TOP
        or interval_of(text) is not None
        or _PREFIX.match(text) is not None
        or _PERIOD.match(text) is not None
    )


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
