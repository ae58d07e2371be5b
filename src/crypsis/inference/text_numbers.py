"""Numbers as people write them: with currencies, units, ranges, bounds, dates and durations."""

from __future__ import annotations

import datetime
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from crypsis.array_types import Floats, Ints

WORD, NUMBER, AT_MOST, AT_LEAST = range(4)
"""The kinds of values: no number, a number or range, an upper bound ("<20"), a lower bound."""
_MIN_NUMERIC_SHARE = 0.9
"""Fewer numbers, or fewer texts with the same beginning, make no column of numbers."""
_BEYOND_BOUND = 1e-9
"""How far "<20" lies below 20, as a part of the bound: not the number itself."""
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")
_CURRENCIES = (
    "eur|usd|gbp|chf|sfr|fr|jpy|cny|rmb|inr|rs|pln|zl|zł|sek|nok|dkk|isk|kr|czk|kc|kč|huf|ft|ron|lei|"
    "bgn|rub|try|tl|brl|mxn|aud|cad|nzd|sgd|hkd|krw|zar|ils|nis|us|r"
)
_BEFORE = re.compile(rf"^(?:(?:{_CURRENCIES})\.?\s*)+(?=[+-]?[\d.(])")
_AFTER = re.compile(r"(?P<number>\d[\d.,]*)\s*(?P<unit>[^\W\d_][^\d]{0,14}|[%‰°/][^\d]{0,14})$")
_THOUSANDS = {
    "k": 1e3,
    "t": 1e3,
    "tsd": 1e3,
    "thousand": 1e3,
    "tausend": 1e3,
    "mille": 1e3,
    "mil": 1e3,
    "lakh": 1e5,
    "mio": 1e6,
    "mn": 1e6,
    "million": 1e6,
    "millions": 1e6,
    "crore": 1e7,
    "bn": 1e9,
    "mrd": 1e9,
    "billion": 1e9,
}
_GROUPS = re.compile(r"(?<=\d)[ '_](?=\d{2,3}(?!\d))")
_RANGE = re.compile(
    r"[\[(]?\s*(?P<low>.*?\d[^\d\-–]*?)\s*(?:-|–|—|\.\.+|…|,\s|;|\bto\b|\bbis\b|\band\b|\bund\b|\buntil\b|"
    r"\bà\b|\ba\b|\btot\b|\bdo\b|\bhasta\b|\bet\b|~)\s*(?P<high>\D*?\d.*?)\s*[\])]?"
)
_BRACKETS = re.compile(r"[\[(](?P<low>[^,;]+)[,;](?P<high>[^,;]+)[\])]")
_NEGATIVE = re.compile(r"\(\d{1,3}(,\d{3})+(\.\d+)?\)")  # as accountants write it
_BETWEEN = re.compile(r"^(between|from|zwischen|von|entre|de)\s+")
_MOST = re.compile(
    r"^(?:<=?|≤|under|below|up to|at most|less than|fewer than|max\.?|unter|bis(?: zu)?|höchstens|"
    r"weniger als|moins de|menos de)\s*(?=\D{0,4}\d)"
)
_LEAST = re.compile(
    r"^(?:>=?|≥|over|above|at least|more than|min\.?|über|ab|mindestens|mehr als|plus de|más de)\s*"
    r"(?=\D{0,4}\d)"
)
_AND_MORE = re.compile(
    r"(?<=\d)\s*(?:\+|(?:or|and|und|u\.?|oder|et|y) (?:more|over|above|older|mehr|älter|plus|más))$"
)
_AND_LESS = re.compile(r"(?<=\d)\s*(?:or|and|und|oder) (?:less|fewer|under|below|weniger)$")
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?:[t ]+(.*))?")
_DAY_FIRST = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})(?:,?[t ]+(.*))?")
_CLOCK = re.compile(r"(?:(\d+)\s*d(?:ays?)?,?\s*)?(\d+):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?\s*(am|pm|z)?")
_PARTS = re.compile(r"(\d+(?:[.,]\d+)?)\s*([a-zäöü]+)\.?,?\s*(?:and\s+|und\s+|et\s+)?")
_SECONDS = {
    "s": 1,
    "sec": 1,
    "secs": 1,
    "second": 1,
    "seconds": 1,
    "sek": 1,
    "sekunden": 1,
    "m": 60,
    "min": 60,
    "mins": 60,
    "minute": 60,
    "minutes": 60,
    "minuten": 60,
    "h": 3600,
    "hr": 3600,
    "hrs": 3600,
    "hour": 3600,
    "hours": 3600,
    "std": 3600,
    "stunden": 3600,
    "d": 86400,
    "day": 86400,
    "days": 86400,
    "tag": 86400,
    "tage": 86400,
    "w": 604800,
    "wk": 604800,
    "week": 604800,
    "weeks": 604800,
    "wochen": 604800,
    "mo": 2629800,
    "month": 2629800,
    "months": 2629800,
    "monate": 2629800,
    "y": 31557600,
    "yr": 31557600,
    "yrs": 31557600,
    "year": 31557600,
    "years": 31557600,
    "jahre": 31557600,
}
_MONTH_NAMES = (
    "jan gen ene sty led янв",
    "feb fev fév únor lut фев",
    "mar mär mrz már bře мар",
    "apr avr abr kwi dub апр",
    "may mai mag mei maj kvě май",
    "jun jui giu cze čer июн",
    "jul lug lip čvc июл",
    "aug aoû aou ago sie srp авг",
    "sep set wrz zář сен",
    "oct okt ott out paź říj окт",
    "nov lis нояб ноя",
    "dec dez dic déc gru pro дек",
)
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
_NAMED = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th|\.|er)?[\s.,/-]*(?:of |de )?)?"
    r"([^\W\d_]{3,12})\.?(?:[\s.,/-]+(?:of |de )?)(?:(\d{1,2})(?:st|nd|rd|th)?,?[\s-]+)?"
    r"'?(\d{4}|\d{2})(?:,?[t ]+(\d.*))?"
)
_MARKS = str.maketrans("’ʼ´`−‐‑", "''''---")


@dataclass(frozen=True, eq=False)
class ReadNumbers:
    """The values of a column as numbers."""

    numbers: Floats
    """NaN where a value is not a number."""
    kinds: Ints
    """WORD, NUMBER, AT_MOST or AT_LEAST; -1 where a value is missing."""
    dates: bool
    """Whether most numbers are days, of which no fraction has a meaning."""
    ranges: bool
    """Whether values are ranges, or bounds: labels of intervals."""

    @property
    def mostly(self) -> bool:
        """Whether nine in ten known values are numbers, and not most of them mere bounds."""
        known_count = (self.kinds >= 0).sum()
        exact = (self.kinds == NUMBER).sum()
        return bool(exact > known_count / 2 and (self.kinds > WORD).sum() >= _MIN_NUMERIC_SHARE * known_count)


def read_numbers(values: pa.Array) -> ReadNumbers:
    """Read each value as a number.

    Text that contains a number is read as that number: "1,200", "CHF 1'200.-" and "1200.0" are one
    number; a range is its middle; a bound ("<20") is just beside its end; dates and times are days, durations
    seconds. What all values begin with ("grade 7") is not part of the number.

    >>> found = read_numbers(pa.array(["CHF 52'310.-", "52000 bis 52050", "<20", "none", None]))
    >>> found.numbers.tolist(), found.kinds.tolist()
    ([52310.0, 52025.0, 19.99999998, nan, nan], [1, 1, 2, 0, -1])
    """
    listed = values.to_pylist()
    texts = [value for value in listed if isinstance(value, str)]
    parsed = _parsed(listed, "")
    if len(texts) == len([value for value in listed if value is not None]) and texts:
        prefix = _shared_prefix(texts)
        if prefix:
            parsed = max(parsed, _parsed(listed, prefix), key=_read)
    numbers = np.array([number for number, _, _ in parsed], np.float64)
    kinds = np.array([kind for _, kind, _ in parsed], np.int64)
    days, ranges = (sum(sort == kind_of_text for _, _, sort in parsed) for kind_of_text in (_DAY, _RANGED))
    return ReadNumbers(numbers, kinds, 2 * days > (kinds > WORD).sum(), ranges > 0)


_Found = tuple[float, int, str]
_DAY, _RANGED, _AMOUNT = "day", "range", "amount"
_NOTHING: _Found = (math.nan, WORD, "")


def _read(parsed: Sequence[_Found]) -> int:
    return sum(kind > WORD for _, kind, _ in parsed)


def _parsed(listed: Sequence[Any], prefix: str) -> list[_Found]:
    """Each value read; of dates such as 3/4/1990 with the order of day and month that fits more."""
    both = [
        [(math.nan, -1, "") if value is None else _value(value, prefix, month_first) for value in listed]
        for month_first in (False, True)
        if not month_first or any(isinstance(value, str) and "/" in value for value in listed)
    ]
    return max(both, key=_read)


def _shared_prefix(texts: Sequence[str]) -> str:
    """What nine in ten texts begin with before the first digit: a word, or a mark after one."""
    counted = Counter(re.split(r"[\d]", text, maxsplit=1)[0] for text in texts)
    prefix, count = counted.most_common(1)[0]
    enough = count >= _MIN_NUMERIC_SHARE * len(texts) and len(prefix.strip()) >= 1
    return prefix if enough and (len(prefix) >= 3 or not prefix[-1].isalpha()) else ""


def _value(value: Any, prefix: str, month_first: bool) -> _Found:
    if isinstance(value, bool):
        return _NOTHING
    if isinstance(value, str):
        return _text(value.removeprefix(prefix) if prefix else value, month_first)
    if isinstance(value, datetime.datetime):
        clock = (value.hour + value.minute / 60 + value.second / 3600) / 24
        return value.replace(tzinfo=None).toordinal() + clock, NUMBER, _DAY
    if isinstance(value, datetime.date):
        return float(value.toordinal()), NUMBER, _DAY
    if isinstance(value, datetime.timedelta):
        return value.total_seconds(), NUMBER, _AMOUNT
    if isinstance(value, datetime.time):
        return value.hour / 24 + value.minute / 1440 + value.second / 86400, NUMBER, _DAY
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return _NOTHING
    return (number, NUMBER, _AMOUNT) if math.isfinite(number) else _NOTHING


def _text(text: str, month_first: bool) -> _Found:
    plain = text.strip()
    if _PLAIN.fullmatch(plain):
        return float(plain), NUMBER, _AMOUNT
    if len(plain) > 60 or not any(character.isdigit() for character in plain):
        return _NOTHING
    plain = " ".join(unicodedata.normalize("NFKC", plain).translate(_MARKS).lower().split())
    days = _days(plain, month_first)
    if days is not None:
        return days, NUMBER, _DAY
    for kind, bounds in ((AT_MOST, (_MOST, _AND_LESS)), (AT_LEAST, (_LEAST, _AND_MORE))):
        for bound in bounds:
            rest = bound.sub("", plain)
            if rest != plain:
                inner = _quantity(rest)
                if inner is None:
                    return _NOTHING
                beyond = -_BEYOND_BOUND if kind == AT_MOST else _BEYOND_BOUND  # not the number itself
                return inner + beyond * max(1.0, abs(inner)), kind, _RANGED
    interval = plain[0] in "[(" and "," in plain and not _NEGATIVE.fullmatch(plain)
    number = None if interval else _quantity(plain)
    if number is not None:
        return number, NUMBER, _AMOUNT
    number = _middle(plain)
    if number is not None:
        return number, NUMBER, _RANGED
    number = _quantity(plain)
    return _NOTHING if number is None else (number, NUMBER, _AMOUNT)


def _middle(plain: str) -> float | None:
    """The middle of a range."""
    ends = _BRACKETS.fullmatch(plain) or _RANGE.fullmatch(_BETWEEN.sub("", plain))
    if ends is None:
        return None
    low, high = _quantity(ends["low"].strip("[( ")), _quantity(ends["high"].strip("]) "))
    return None if low is None or high is None else (low + high) / 2


def _quantity(plain: str) -> float | None:
    """A number, perhaps with a currency, a unit, or signs of thousands; or a duration."""
    seconds = _duration(plain)
    if seconds is not None:
        return seconds
    plain = "".join(character for character in plain if unicodedata.category(character) != "Sc").strip()
    negative = plain.startswith("(") and plain.endswith(")")
    plain = plain.strip("()").strip()
    sign = -1.0 if negative or plain.startswith("-") else 1.0
    plain = _BEFORE.sub("", plain.lstrip("+- "))
    plain = re.sub(r"[.,]\s*-+$", "", plain)  # 1200.-
    factor = 1.0
    unit = _AFTER.search(plain)
    if unit is not None:
        factor = _THOUSANDS.get(unit["unit"].strip(" ."), 1.0)
        plain = plain[: unit.start()] + unit["number"]
    plain = _GROUPS.sub("", plain)
    if re.fullmatch(r"\d{1,3}(,\d{2,3})*,\d{3}(\.\d*)?", plain):
        plain = plain.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(\.\d{3})+,\d*|\d{1,3}(\.\d{3}){2,}", plain):
        plain = plain.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"\d+,\d+", plain):
        plain = plain.replace(",", ".")
    return sign * factor * float(plain) if _PLAIN.fullmatch(plain) else None


def _duration(plain: str) -> float | None:
    """Seconds: 02:00:31, "1 h 20 min"."""
    clock = _CLOCK.fullmatch(plain)
    if clock is not None:
        days, hours, minutes, seconds, half = clock.groups()
        hour = int(hours) % 12 + 12 * (half == "pm") if half in ("am", "pm") else int(hours)
        rest = float((seconds or "0").replace(",", "."))
        return 86400 * int(days or 0) + 3600 * hour + 60 * int(minutes) + rest
    parts = _PARTS.findall(plain)
    if len(parts) < 2 or _PARTS.sub("", plain).strip():
        return None
    if any(unit not in _SECONDS for _, unit in parts):
        return None
    return sum(float(number.replace(",", ".")) * _SECONDS[unit] for number, unit in parts)


def _days(plain: str, month_first: bool) -> float | None:
    """The day of a date with numbers or the name of a month; a month counts with its first day."""
    iso, numeric = _ISO.fullmatch(plain), _DAY_FIRST.fullmatch(plain)
    clock: str | None
    if iso is not None and iso[4] and not iso[3]:
        return None  # "1826.11 EUR": a month has no time of day
    if iso is not None:
        year, month, day, clock = int(iso[1]), int(iso[2]), int(iso[3] or 1), iso[4]
    elif numeric is not None:
        first, second = int(numeric[1]), int(numeric[2])
        day, month = (second, first) if month_first else (first, second)
        year, clock = _year(numeric[3]), numeric[4]
    else:
        named = _NAMED.fullmatch(plain)
        if named is None:
            return None
        name = named[2]
        weekday = _MONTHS.get(name[:3], _MONTHS.get(name[:4]))
        if name.startswith(("juil", "juill")):
            weekday = 7
        if weekday is None:
            return None
        year, month, day, clock = _year(named[4]), weekday, int(named[1] or named[3] or 1), named[5]
    try:
        number = float(datetime.date(year, month, day).toordinal())
    except ValueError:
        return None
    if clock:
        seconds = _duration(re.split(r"[+z]", clock.strip(), maxsplit=1)[0].strip())
        number += 0.0 if seconds is None else seconds / 86400
    return number


def _year(text: str) -> int:
    year = int(text)
    return year if len(text) == 4 else 2000 + year if year < 40 else 1900 + year
