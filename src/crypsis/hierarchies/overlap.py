"""Which labels of two releases may be those of one value: intervals, prefixes, dates, values."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.hierarchies.cover import interval_of
from crypsis.hierarchies.labels import TOP, as_text, first_day, last_year

_DATE = re.compile(
    r"^\d{1,4}(?:-(?:0[1-9]|1[0-2]|Q[1-4]|H[12]))?$|^\d{1,4}0s$|^\d{1,4}-(?:1[3-9]|[2-9]\d|\d{3,4})$"
)
_ISO = re.compile(r"^(\d{4}-\d{2}-\d{2})(?:T.*)?$")
_PREFIX = re.compile(r"^([^*]+)(\*+)$")
_OTHER = re.compile(r"^\(*other\)*$")
_MONTHS = {"Q": 3, "H": 6}

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Overlap:
    """For each label of one release which labels of another may be those of the same value."""

    possible: Mask
    unread: int
    """How many labels are neither in both releases nor read as an interval, a prefix or a date, and
    may have something in common with such labels of the other release, or with none that is there:
    they are compared with nothing."""


def overlapping(labels: Sequence[Any], others: Sequence[Any]) -> Overlap:
    """Compare the labels of a column in two releases.

    Equal labels overlap, intervals and numbers that share a number, prefixes of which one begins
    with the other, and dates that share a day. A missing or suppressed label overlaps with all, and so
    does "other": in a local recoding it is also the label of some records whose value has its own.

    >>> overlapping(["20-29", "021**", None], ["25-34", 29, "0213*"]).possible.astype(int).tolist()
    [[1, 1, 0], [0, 0, 1], [1, 1, 1]]
    >>> overlapping(["Europe"], ["France"]).unread
    2
    """
    first, second = ([_text(label) for label in side] for side in (labels, others))
    place = {text: j for j, text in enumerate(second)}
    found = np.zeros((len(first), len(second)), bool)
    for i, text in enumerate(first):
        if text in place:
            found[i, place[text]] = True
    for read in (_number, _day):
        found |= _sharing(*(_spans(side, read) for side in (labels, others)))
    _prefixes(labels, others, found)
    found[[_any(text) for text in first]] = True
    found[:, [_any(text) for text in second]] = True
    own, theirs = _unread(labels, set(second)), _unread(others, set(first))
    if not (own.any() and theirs.any()):  # a value that the other release suppresses everywhere
        own, theirs = own & ~found.any(axis=1), theirs & ~found.any(axis=0)
    return Overlap(found, int(own.sum() + theirs.sum()))


def _text(label: Any) -> str | None:
    """A label as text; None if it is missing, empty or suppressed."""
    return None if label is None or label in ("", TOP) else as_text(label)


def _any(text: str | None) -> bool:
    return text is None or _OTHER.match(text) is not None


def _spans(labels: Sequence[Any], read: Any) -> NDArray[np.float64]:
    """The lowest and highest number of each label, both included; not a number where it has none."""
    spans = np.full((len(labels), 2), math.nan)
    for i, label in enumerate(labels):
        span = None if _text(label) is None else read(label)
        if span is not None:
            spans[i] = span
    return spans


def _sharing(one: NDArray[np.float64], two: NDArray[np.float64]) -> Mask:
    low = np.maximum(one[:, None, 0], two[None, :, 0])
    high = np.minimum(one[:, None, 1], two[None, :, 1])
    return np.asarray(low <= high, bool)


def _number(label: Any) -> tuple[float, float] | None:
    text = as_text(label)
    interval = interval_of(text)
    if interval is not None:
        low, high, open_low, open_high = interval
        low = math.nextafter(low, math.inf) if open_low else low
        return low, math.nextafter(high, -math.inf) if open_high else high
    try:
        value = float(text)
    except ValueError:
        return None
    return (value, value) if math.isfinite(value) else None


def _day(label: Any) -> tuple[float, float] | None:
    """The first and last day of a date or of its month, quarter, half-year, year or years."""
    if not isinstance(label, str | datetime.date):
        return None
    text = as_text(label)
    exact = _ISO.match(text)
    try:
        if exact is not None:
            day = float(datetime.date.fromisoformat(exact.group(1)).toordinal())
            return day, day
        if not _DATE.match(text):
            return None
        if not int(text[: len(text) - 1] if text.endswith("s") else text.partition("-")[0]):
            return None  # there is no year 0
        first = first_day(text)
    except ValueError:
        return None
    part = text.partition("-")[2]
    end = last_year(text)
    if end is not None:
        after = 12 * (end + 1)
    else:
        months = _MONTHS.get(part[:1], 1) if part else 12
        after = first.year * 12 + first.month - 1 + months
    if after // 12 > datetime.MAXYEAR or after <= 12 * first.year:
        return None
    last = datetime.date(after // 12, after % 12 + 1, 1).toordinal() - 1
    return float(first.toordinal()), float(last)


def _prefixes(labels: Sequence[Any], others: Sequence[Any], found: Mask) -> None:
    """Labels of one length of which one begins with the other; numbers have leading zeros."""
    heads = [[_head(label) for label in side] for side in (labels, others)]
    cut = [[one[1] for one in side] for side in heads]
    for i in np.flatnonzero(cut[0]):
        found[i] |= [_begins(heads[0][i], other) for other in heads[1]]
    for j in np.flatnonzero(cut[1]):
        found[:, j] |= [_begins(heads[1][j], other) for other in heads[0]]


def _head(label: Any) -> tuple[str, bool, int]:
    """What a label begins with, whether more follows, and its length; 0 where any would do."""
    text = _text(label) or ""
    prefix = _PREFIX.match(text)
    if prefix is not None:
        return prefix.group(1), True, len(text)
    return text, False, len(text) if isinstance(label, str) else 0


def _begins(one: tuple[str, bool, int], two: tuple[str, bool, int]) -> bool:
    head, _, length = one
    other = two[0] if two[2] else two[0].zfill(length)
    shorter = min(len(head), len(other))
    return two[2] in (0, length) and head[:shorter] == other[:shorter]


def _unread(labels: Sequence[Any], others: set[str | None]) -> Mask:
    """Labels that are not in the other release and have no span, prefix or meaning."""
    return np.array(
        [
            (text := _text(label)) is not None
            and text not in others
            and not _OTHER.match(text)
            and _PREFIX.match(text) is None
            and _number(label) is None
            and _day(label) is None
            for label in labels
        ],
        bool,
    )
