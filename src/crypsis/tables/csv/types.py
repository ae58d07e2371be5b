"""The column types of a CSV file: integer, number, date, time, else text.

The first lines show which are possible; every line has to agree, or at least the first 200,000 of a
large file. Numbers with leading zeros (zip codes) and those of more than 18 digits stay text. Numbers
may have a decimal comma, where it is not the delimiter, and dates the order of day, month and year
that all values of the column have; if they fit two orders, the column stays text. So does a column of
values like 12.500, which are thousands or have three decimals, unless the file shows its decimal mark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from crypsis.errors import ParameterError, SourceError, unknown_columns

PATTERNS = {
    "integer": r"[+-]?(0|[1-9][0-9]{0,17})",
    "number": r"[+-]?((0|[1-9][0-9]{0,17})(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?",
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "time": r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?",
}
"""The notation that needs no conversion; see also `Notation`."""
_COMMAS = {
    ",": r"[+-]?((0|[1-9][0-9]{0,17})(,[0-9]*)?|,[0-9]+)([eE][+-]?[0-9]+)?",
    ".,": r"[+-]?(0|[1-9][0-9]{0,2}(\.[0-9]{3}){0,5})(,[0-9]*)?",
}
"""Numbers with a decimal comma, and with points between the thousands."""
GROUPED = ".,"
_OTHERWISE = {".": PATTERNS["number"], ",": r"[+-]?(0|[1-9][0-9]{0,2}(,[0-9]{3}){0,5})"}
"""What numbers may be under another decimal mark: with a point, or with commas between thousands."""
_PARTS = {
    "%d": "(0[1-9]|[12][0-9]|3[01])",
    "%m": "(0[1-9]|1[0-2])",
    "%-d": "([1-9]|[12][0-9]|3[01])",
    "%-m": "([1-9]|1[0-2])",
    "%Y": "[0-9]{4}",
    "%H": "([01][0-9]|2[0-3])",
    "%M": "[0-5][0-9]",
    "%S": "[0-5][0-9]",
}
_DAYS = (
    "%d.%m.%Y",
    "%-d.%-m.%Y",
    "%d/%m/%Y",
    "%-d/%-m/%Y",
    "%m/%d/%Y",
    "%-m/%-d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y/%m/%d",
)
_HOURS = ("%H:%M", "%H:%M:%S")
_WORDS = {"YYYY": "%Y", "MM": "%m", "DD": "%d", "M": "%-m", "D": "%-d"}


@dataclass(frozen=True)
class Notation:
    """How the values of one type are written.

    >>> Notation("date", "%d.%m.%Y").matches("25.03.1953")
    True
    """

    kind: str
    """The column type."""
    form: str = ""
    """The signs of numbers with a decimal comma; the order of a date, such as %d.%m.%Y. Of texts:
    the sign of numbers that they may be under another decimal mark."""

    @cached_property
    def pattern(self) -> str:
        """The regular expression of a value."""
        if not self.form:
            return PATTERNS[self.kind]
        if self.kind == "text":
            return _OTHERWISE[self.form]
        if self.form in _COMMAS:
            return _COMMAS[self.form]
        parts = re.split("(%-?[a-zA-Z])", self.form)
        return "".join(_PARTS.get(part, part.replace(".", "[.]")) for part in parts)

    def matches(self, text: str) -> bool:
        """Whether a text has the form of such a value."""
        return re.fullmatch(self.pattern, text) is not None


PLAIN = tuple(map(Notation, PATTERNS))
_INTEGER, _NUMBER = PLAIN[:2]
_GROUPED = Notation("number", GROUPED)
_NUMBERS = {".": (_NUMBER,), ",": (Notation("number", ","), _GROUPED), None: (_NUMBER, _GROUPED)}
"""The notations of numbers by the decimal mark of a file; None: it is not known."""
_CONTENDERS = {",": (Notation("text", "."),), None: (Notation("text", ","),)}
"""What else they may be, if the mark was not given but found, or is not known."""
_OTHERS = (
    *(Notation("date", day) for day in _DAYS),
    *(Notation("time", f"{day} {hour}") for day in _DAYS for hour in _HOURS),
)


def date_notation(words: str | None) -> str | None:
    """The order that a user gave, such as DD.MM.YYYY.

    >>> date_notation("DD.MM.YYYY")
    '%d.%m.%Y'
    """
    if words is None:
        return None
    pattern = re.sub("YYYY|MM|DD|M|D", lambda part: _WORDS[part[0]], words)
    if pattern not in _DAYS:
        formats = ", ".join(re.sub("%-?[a-zA-Z]", _word, day) for day in _DAYS)
        raise ParameterError(
            f"Date format {words!r} is not known. The formats are: {formats}.",
            code="unknown-date-format",
            parameter="date_format",
        )
    return pattern


def _word(part: re.Match[str]) -> str:
    return next(word for word, sign in _WORDS.items() if sign == part[0])


def possible_types(
    rows: Sequence[Sequence[str]],
    markers: Sequence[str],
    names: Sequence[str],
    types: Mapping[str, str],
    *,
    decimal: str | None = ".",
    dates: str | None = None,
) -> list[list[Notation]]:
    """The notations that each column may have by the first lines; all of them if it has no value.

    `decimal` is the decimal mark; None: the one that the numbers of a column show. `dates` is the
    order of day, month and year, where it is known. A column with a type has its notations.
    """
    for name in types:
        if name not in names:
            raise unknown_columns([name], names)
    seen = []
    for position in range(len(names)):
        fields = {row[position] for row in rows if position < len(row)}
        seen.append({field.strip() for field in fields if field not in markers} - set(markers))
    mark = decimal or _shown_mark(seen)
    numbers = (*_NUMBERS[mark], *(() if decimal else _CONTENDERS.get(mark, ())))
    fitting = []
    for name, values in zip(names, seen, strict=True):
        kind = types.get(name)
        number_notations = _asked_numbers(name, values, mark) if kind == "number" else numbers
        fitting.append(_fits(values, kind, number_notations, dates))
    return fitting


def _shown_mark(seen: Sequence[set[str]]) -> str | None:
    """The decimal mark that the numbers of a column have beyond doubt: 0,5 or 1.25, not 12.500."""
    for mark, forms, thousands in ((",", _NUMBERS[","], Notation("text", ",")), (".", (_NUMBER,), _GROUPED)):
        for values in seen:
            marked = any(mark in value for value in values)
            if marked and any(_all(form, values) for form in forms) and not _all(thousands, values):
                return mark
    return None


def _asked_numbers(name: str, values: set[str], mark: str | None) -> tuple[Notation, ...]:
    """The notations of a column whose type was given as number."""
    if mark is None and any("." in value for value in values) and _all(_GROUPED, values):
        raise SourceError(
            f"The points in column {name!r} may be between thousands or before decimals.",
            code="decimal-mark",
            parameter="decimal",
            hint="Set {decimal=,} or {decimal=.}.",
        )
    return _NUMBERS[mark or "."]


def _fits(
    values: set[str], kind: str | None, numbers: Sequence[Notation], dates: str | None
) -> list[Notation]:
    candidates = [_INTEGER, *numbers, *PLAIN[2:]]
    if values:
        candidates += [notation for notation in _OTHERS if notation.form.startswith(dates or "%")]
    return [
        candidate for candidate in candidates if kind in (None, candidate.kind) and _all(candidate, values)
    ]


def _all(notation: Notation, values: set[str]) -> bool:
    return all(map(notation.matches, values))


def settled(fits: Sequence[Notation]) -> Notation | None:
    """The one notation that a column has: the narrowest; None for text.

    12/11/1953 may be a day of December or of November: of two orders one must be impossible. So must
    one of two readings of 12.500. A column that fits integers and dates has no values.

    >>> settled([Notation("date", "%d/%m/%Y"), Notation("date", "%m/%d/%Y")]) is None
    True
    >>> settled([Notation("number"), Notation("number", ".,")]) is None
    True
    """
    kinds = {fit.kind for fit in fits}
    orders = {fit.form.replace("-d", "d").replace("-m", "m") for fit in fits if "%" in fit.form}
    if not fits or len(orders) > 1 or {"integer", "date"} <= kinds:
        return None
    doubtful = _GROUPED in fits and ("text" in kinds or _NUMBER in fits)
    if fits[0].kind == "text" or (doubtful and "integer" not in kinds):
        return None
    return fits[0]
