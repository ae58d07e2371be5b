"""Ages over 89, and years that show such an age, (C)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from crypsis.columns.safe_harbor import _words as w

AGE_LIMIT = 90
"""Ages of 90 and more are one category; 90 as a number means "90 and older"."""
_UNITS = {
    "month": 12,
    "months": 12,
    "mo": 12,
    "mos": 12,
    "monate": 12,
    "meses": 12,
    "mois": 12,
    "week": 52.18,
    "weeks": 52.18,
    "day": 365.25,
    "days": 365.25,
    "tage": 365.25,
    "hours": 8766,
}
_NUMBER = r"\d{1,6}(?:[.,]\d+)?"
_UNIT = r"(?:years?|yrs?\.?|y\.?/?o\.?|y|a|jahre?|ans?|a[nñ]os?|anni|jaar)(?: ?[- ]?(?:old|alt|of age))?"
_AGED = re.compile(rf"(?:aged? ?)?({_NUMBER}) ?-?{_UNIT}\.?|aged? ({_NUMBER})", re.IGNORECASE)
_BAND = re.compile(
    rf"[\[(]?({_NUMBER}) ?(?:-|–|—|to|bis|\.\.+|,|/) ?({_NUMBER})([\])]?) ?(?:{_UNIT})?", re.IGNORECASE
)
_OPEN = re.compile(
    rf"(?P<over>>|over|above|older than|more than|uber|über) ?(?P<a>{_NUMBER})|"
    rf"(?:>=|≥|at least|from|ab|min\.?|[\[(]) ?(?P<b>{_NUMBER})(?:, ?(?:inf|∞|\))\)?)?|"
    rf"(?P<c>{_NUMBER}) ?(?:\+|plus|(?:years? |yrs? )?(?:and|or|&|und|oder) "
    r"(?:older|over|above|more|up|mehr|[aä]lter))|"
    rf"[\[(](?P<d>{_NUMBER}) ?(?:,|-|to) ?(?:inf(?:inity)?|∞|max)? ?[\])]",
    re.IGNORECASE,
)
_BELOW = re.compile(rf"(?:<=?|≤|under|below|up to|less than|bis|unter) ?({_NUMBER}).*", re.IGNORECASE)
_DECADE = re.compile(r"(?:in )?(?:the )?(\d{2,3})(?:'?s|er|ies)", re.IGNORECASE)
_VERY_OLD = re.compile(r"\b(super)?(nonagenarian|centenarian)s?\b", re.IGNORECASE)
_IN_WORDS = re.compile(
    r"\b(ninety|hundred|neunzig|hundert|quatre-vingt-(dix|onze|douze|treize|quatorze|quinze|seize)|noventa|cien)"
    r"(?!.*\b(or|and) (older|over|more|above))",
    re.IGNORECASE,
)
_MEASURED = frozenset(
    "weight wt g gram grams kg lb lbs oz length height cm mm head circumference order parity score "
    "apgar gewicht rank sequence place country region type status count number rate id".split()
)


def names_an_age(name: str) -> bool:
    """Whether a name is that of an age."""
    words = w.words_of(name)
    joined = "".join(words)
    if set(words) & w.AGE_WORDS or w.AGE_COMPOUND.match(joined):
        return True
    if re.search(r"(years?|yrs?|jahre)((old|alt|lived)|(since|from|after)birth)|^yrs?(of)?life$", joined):
        return True
    return any(w.AGE_COMPOUND.match(word) for word in words)


def high_age(name: str, texts: Sequence[str]) -> str | None:
    """How a column shows ages over 89 other than as one category, or None."""
    named = names_an_age(name)
    years = years_in(name) if named else 1.0
    for text in texts:
        aged = _AGED.fullmatch(text)
        if _VERY_OLD.search(text) or (named and _IN_WORDS.search(text)):
            return "ages above 89 are written out"
        if aged and float((aged[1] or aged[2]).replace(",", ".")) >= AGE_LIMIT:
            return "ages above 89 are written out"
        if named and shows(text, years):
            return "there are ages or age bands above 89"
    return None


def years_in(name: str) -> float:
    """How many units of the column are a year: 12 for ages in months."""
    units = [_UNITS[word] for word in w.words_of(name) if word in _UNITS]
    joined = "".join(w.words_of(name))
    if not units and re.search(r"(mos?|months?)$", joined):
        units = [12]
    if not units and re.search(r"days?$", joined):
        units = [365.25]
    return units[0] if units else 1.0


def shows(text: str, unit: float) -> bool:
    """Whether an age or a band of ages is above 89 and not the category of 90 and older."""
    limit = AGE_LIMIT * unit
    if re.fullmatch(_NUMBER, text):
        return float(text.replace(",", ".")) > limit
    above = _OPEN.fullmatch(text)
    if above:
        over = above["over"] is not None
        start = float((above["a"] or above["b"] or above["c"] or above["d"]).replace(",", "."))
        return start > limit or (over and start >= limit)
    if _BELOW.fullmatch(text):
        return False
    decade = _DECADE.fullmatch(text)
    if decade:
        return float(decade[1]) * unit >= limit
    band = _BAND.fullmatch(text)
    if band:
        low, high = (float(band[i].replace(",", ".")) for i in (1, 2))
        exclusive = band[3] == ")"
        return high > limit or (high == limit and not exclusive and low < limit) or low >= limit
    return False


def names_a_birth_year(name: str) -> bool:
    """Whether a name is that of a birth or a birth cohort, not of what was measured at birth."""
    words = set(w.words_of(name))
    return bool(words & w.BIRTH_WORDS) and not words & _MEASURED


def old_birth_year(name: str, texts: Sequence[str]) -> str | None:
    """How years of birth show an age over 89 today, or None; 90 years ago means "or earlier"."""
    cohort = bool(set(w.words_of(name)) & w.COHORT_WORDS)
    if not (names_a_birth_year(name) or cohort):
        return None
    oldest = date.today().year - AGE_LIMIT
    for text in texts:
        years = [int(year) for year in re.findall(r"(?<!\d)(?:18|19|20)\d\d(?!\d{3})", text)]
        if years and min(years) < oldest:
            return "years of birth show ages above 89"
    short = not cohort and all(re.fullmatch(r"'?\d\d", text) for text in texts)
    if short and any(int(text[-2:]) < oldest % 100 for text in texts):
        return "years of birth of two digits may show ages above 89"
    return None
