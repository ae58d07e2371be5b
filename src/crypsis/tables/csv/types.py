"""The column types of a CSV file: integer, number, date, time, else text.

The first lines show which are possible; every line has to agree, or at least the first 200,000 of a
large file. Numbers with leading zeros (zip codes) and those of more than 18 digits stay text. Numbers
may have a decimal comma, where it is not the delimiter, and dates the order of day, month and year
that all values of the column have; if they fit two orders, the column stays text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from crypsis.errors import ParameterError, unknown_columns

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
    "%d.%m.%Y", "%-d.%-m.%Y", "%d/%m/%Y", "%-d/%-m/%Y", "%m/%d/%Y", "%-m/%-d/%Y", "%d-%m-%Y",
    "%m-%d-%Y", "%Y/%m/%d",
)  # fmt: skip
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
    """The signs of numbers with a decimal comma; the order of a date, such as %d.%m.%Y."""

    @cached_property
    def pattern(self) -> str:
        """The regular expression of a value."""
        if not self.form:
            return PATTERNS[self.kind]
        if self.form in _COMMAS:
            return _COMMAS[self.form]
        parts = re.split("(%-?[a-zA-Z])", self.form)
        return "".join(_PARTS.get(part, part.replace(".", "[.]")) for part in parts)

    def matches(self, text: str) -> bool:
        """Whether a text has the form of such a value."""
        return re.fullmatch(self.pattern, text) is not None


PLAIN = tuple(map(Notation, PATTERNS))
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
    found = re.sub("YYYY|MM|DD|M|D", lambda part: _WORDS[part[0]], words)
    if found not in _DAYS:
        known = ", ".join(re.sub("%-?[a-zA-Z]", _word, day) for day in _DAYS)
        raise ParameterError(
            f"Date format {words!r} is not known. The formats are: {known}.",
            code="unknown-date-format",
            parameter="date_format",
        )
    return found


def _word(part: re.Match[str]) -> str:
    return next(word for word, sign in _WORDS.items() if sign == part[0])


def possible_types(
    rows: Sequence[Sequence[str]],
    markers: Sequence[str],
    names: Sequence[str],
    types: Mapping[str, str],
    *,
    comma: bool | None = False,
    dates: str | None = None,
) -> list[list[Notation]]:
    """The notations that each column may have by the first lines; the plain ones if it has no value.

    With `comma` numbers have a decimal comma; None: where one has. `dates` is the order of day, month
    and year, where it is known. A column with a type has the notations of this type.
    """
    for name in types:
        if name not in names:
            raise unknown_columns([name], names)
    seen = []
    for place in range(len(names)):
        fields = {row[place] for row in rows if place < len(row)}
        seen.append({field.strip() for field in fields if field not in markers} - set(markers))
    if comma is None:
        comma = any(_all(Notation("number", sign), values) for values in seen for sign in _COMMAS
                    if any("," in value for value in values))  # fmt: skip
    return [
        _fits(values, types.get(name), comma, dates)
        for name, values in zip(names, seen, strict=True)
    ]


def _fits(values: set[str], kind: str | None, comma: bool, dates: str | None) -> list[Notation]:
    if not values:
        return [one for one in PLAIN if kind in (None, one.kind)]
    grouped = any("." in value and "," in value for value in values)
    number = Notation("number", ".," if grouped else ",") if comma else PLAIN[1]
    others = [one for one in _OTHERS if one.form.startswith(dates or "%")]
    candidates = (PLAIN[0], number, *PLAIN[2:], *others)
    return [one for one in candidates if kind in (None, one.kind) and _all(one, values)]


def _all(notation: Notation, values: set[str]) -> bool:
    return all(map(notation.matches, values))


def settled(fits: Sequence[Notation]) -> Notation | None:
    """The one notation that a column has: the narrowest; None for text.

    12/11/1953 may be a day of December or of November: of two orders one must be impossible. A
    column that fits all types has no values.

    >>> settled([Notation("date", "%d/%m/%Y"), Notation("date", "%m/%d/%Y")]) is None
    True
    """
    orders = {one.form.replace("-d", "d").replace("-m", "m") for one in fits if "%" in one.form}
    if not fits or len(orders) > 1 or len(fits) == len(PLAIN) == len({one.kind for one in fits}):
        return None
    return fits[0]
