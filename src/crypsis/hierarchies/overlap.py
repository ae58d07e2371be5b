"""Which labels of two releases may be those of one value: intervals, prefixes, dates, values."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crypsis.array_types import Flags, Floats
from crypsis.hierarchies.cover import interval_of
from crypsis.hierarchies.labels import TOP, as_text, first_day, last_year

_DATE = re.compile(
    r"^\d{1,4}(?:-(?:0[1-9]|1[0-2]|Q[1-4]|H[12]))?$|^\d{1,4}0s$|^\d{1,4}-(?:1[3-9]|[2-9]\d|\d{3,4})$"
)
_ISO = re.compile(r"^(\d{4}-\d{2}-\d{2})(?:T.*)?$")
_PREFIX = re.compile(r"^([^*]+)(\*+)$")
_OTHER = re.compile(r"^\(*other\)*$")
_MONTHS = {"Q": 3, "H": 6}


@dataclass(frozen=True, eq=False)
class Overlap:
    """For each label of one release which labels of another may be those of the same value."""

    possible: Flags
    unread: int
    """How many labels are neither in both releases nor read as an interval, a prefix or a date, and
    may have something in common with such labels of the other release, or with none that is there:
    they are compared with nothing."""


def overlapping(labels: Sequence[Any], other_labels: Sequence[Any]) -> Overlap:
    """Compare the labels of a column in two releases.

    Equal labels overlap, intervals and numbers that share a number, prefixes of which one begins
    with the other, and dates that share a day. A missing or suppressed label overlaps with all, and so
    does "other": in a local recoding it is also the label of some records whose value has its own.

    >>> overlapping(["20-29", "021**", None], ["25-34", 29, "0213*"]).possible.astype(int).tolist()
    [[1, 1, 0], [0, 0, 1], [1, 1, 1]]
    >>> overlapping(["Europe"], ["France"]).unread
    2
    """
    first, second = ([_text(label) for label in side] for side in (labels, other_labels))
    position = {text: j for j, text in enumerate(second)}
    possible = np.zeros((len(first), len(second)), bool)
    for i, text in enumerate(first):
        if text in position:
            possible[i, position[text]] = True
    for read in (_number, _day):
        possible |= _sharing(*(_spans(side, read) for side in (labels, other_labels)))
    _prefixes(labels, other_labels, possible)
    possible[[_any(text) for text in first]] = True
    possible[:, [_any(text) for text in second]] = True
    unread, theirs = _unread(labels, set(second)), _unread(other_labels, set(first))
    if not (unread.any() and theirs.any()):  # a value that the other release suppresses everywhere
        unread, theirs = unread & ~possible.any(axis=1), theirs & ~possible.any(axis=0)
    return Overlap(possible, int(unread.sum() + theirs.sum()))


def _text(label: Any) -> str | None:
    """A label as text; None if it is missing, empty or suppressed."""
    return None if label is None or label in ("", TOP) else as_text(label)


def _any(text: str | None) -> bool:
    return text is None or _OTHER.match(text) is not None


def _spans(labels: Sequence[Any], read: Any) -> Floats:
    """The lowest and highest number of each label, both included; not a number where it has none."""
    spans = np.full((len(labels), 2), math.nan)
    for i, label in enumerate(labels):
        span = None if _text(label) is None else read(label)
        if span is not None:
            spans[i] = span
    return spans


def _sharing(first: Floats, second: Floats) -> Flags:
    low = np.maximum(first[:, None, 0], second[None, :, 0])
    high = np.minimum(first[:, None, 1], second[None, :, 1])
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


def _prefixes(labels: Sequence[Any], other_labels: Sequence[Any], possible: Flags) -> None:
    """Labels of one length of which one begins with the other; numbers have leading zeros."""
    heads = [[_head(label) for label in side] for side in (labels, other_labels)]
    cut = [[head[1] for head in side] for side in heads]
    for i in np.flatnonzero(cut[0]):
        possible[i] |= [_begins(heads[0][i], head) for head in heads[1]]
    for j in np.flatnonzero(cut[1]):
        possible[:, j] |= [_begins(heads[1][j], head) for head in heads[0]]


def _head(label: Any) -> tuple[str, bool, int]:
    """What a label begins with, whether more follows, and its length; 0 where any would do."""
    text = _text(label) or ""
    prefix = _PREFIX.match(text)
    if prefix is not None:
        return prefix.group(1), True, len(text)
    return text, False, len(text) if isinstance(label, str) else 0


def _begins(first: tuple[str, bool, int], second: tuple[str, bool, int]) -> bool:
    head, _, length = first
    second_head = second[0] if second[2] else second[0].zfill(length)
    shorter = min(len(head), len(second_head))
    return second[2] in (0, length) and head[:shorter] == second_head[:shorter]


def _unread(labels: Sequence[Any], other_texts: set[str | None]) -> Flags:
    """Labels that are not in the other release and have no span, prefix or meaning."""
    return np.array(
        [
            (text := _text(label)) is not None
            and text not in other_texts
            and not _OTHER.match(text)
            and _PREFIX.match(text) is None
            and _number(label) is None
            and _day(label) is None
            for label in labels
        ],
        bool,
    )
