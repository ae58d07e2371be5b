"""Elements of dates finer than the year, (C), by name and by value.

HHS, Guidance Regarding Methods for De-identification (2012): elements that are not permitted
include the day, the month and any other information more specific than the year of an event. So
quarters, weeks, seasons, weekdays and times of day are elements too; durations are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from crypsis.columns.safe_harbor import _words as w

_MONTH = (
    "jan(uary|uar)?|feb(ruary|ruar)?|mar(ch)?|mrz|m[aä]rz|apr(il)?|may|mai|jun[ei]?|jul[yi]?|"
    "aug(ust)?|sept?(ember)?|o[ck]t(ober)?|nov(ember)?|de[cz](ember)?|janvier|f[eé]vrier|mars|avril|"
    "juin|juillet|ao[uû]t|septembre|octobre|novembre|d[eé]cembre|enero|febrero|marzo|abril|mayo|junio|"
    "julio|agosto|septiembre|octubre|noviembre|diciembre|januari|februari|maart|mei|augustus|"
    "j[aä]nner|feber|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre|"
    "janeiro|fevereiro|mar[cç]o|maio|junho|julho|setembro|outubro|novembro|dezembro|"
    "stycze[nń]|luty|marzec|kwiecie[nń]|maj|czerwiec|lipiec|sierpie[nń]|wrzesie[nń]|pa[zź]dziernik|"
    "listopad|grudzie[nń]|stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|wrze[sś]nia|"
    "pa[zź]dziernika|listopada|grudnia|marts|augusti|desember|tammikuu|helmikuu|maaliskuu|huhtikuu|"
    "toukokuu|kes[aä]kuu|hein[aä]kuu|elokuu|syyskuu|lokakuu|marraskuu|joulukuu|ocak|[sş]ubat|mart|nisan|"
    "may[iı]s|haziran|temmuz|a[gğ]ustos|eyl[uü]l|ekim|kas[iı]m|aral[iı]k|январ[ья]|феврал[ья]|марта?|"
    "апрел[ья]|ма[йя]|июн[ья]|июл[ья]|августа?|сентябр[ья]|октябр[ья]|ноябр[ья]|декабр[ья]|"
    "muharram|safar|rajab|sha'?ban|ramadan|shawwal"
)
_WEEKDAY = (
    "mon(day)?|tue(s|sday)?|wed(nesday)?|thu(r|rs|rsday)?|fri(day)?|sat(urday)?|sun(day)?|montag|"
    "dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|"
    "dimanche|lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo"
)
_SEASON = "spring|summer|autumn|fall|winter|fr[uü]hling|sommer|herbst"
_YEAR = r"(18|19|20)\d\d"
_M = r"(0?[1-9]|1[0-2])"
"""A month as a number."""
_D = r"(0?[1-9]|[12]\d|3[01])"
"""A day as a number."""
_CLOCK = r"([ T]\d{1,2}[:h]\d{2}.*)?"
# One such value is enough: nothing else is written like this.
_DISTINCT = re.compile(
    rf"{_YEAR}[-/.]{_M}[-/.]{_D}{_CLOCK}|"
    rf"({_D}[-/.]{_M}|{_M}[-/.]{_D})[-/.]({_YEAR}|\d\d){_CLOCK}|"
    rf"{_YEAR}[-/.]{_M}|{_M}[-/]{_YEAR}|"
    rf"{_YEAR}[-/ ]?w(k|eek)?[-/ ]?\d{{1,2}}([-/.]?[1-7])?|(w|wk|week|kw)[-/. ]?\d{{1,2}}[-/ ]{_YEAR}|"
    rf"{_YEAR}[-/ ]?q[1-4]|q[1-4][-/ ']?({_YEAR}|\d\d)|[1-4]q[-/ ']?({_YEAR}|\d\d)|{_YEAR}[-/ ]?h[12]|"
    rf"({_MONTH})[-/. ,]+('?\d\d|{_YEAR})|{_YEAR}[-/. ,]+({_MONTH})|"
    rf"{_D}(st|nd|rd|th)?[-/. ]+(of )?({_MONTH})([-/. ,]+('?\d\d|{_YEAR}))?{_CLOCK}|"
    rf"({_MONTH})[-/. ]+{_D}(st|nd|rd|th)?(,? +('?\d\d|{_YEAR}))?{_CLOCK}|"
    rf"({_SEASON})[-/ ]+(of )?{_YEAR}|{_YEAR}[-/ ]+({_SEASON})|"
    rf"({_WEEKDAY}),? .*\d.*|"
    rf"fy ?'?({_YEAR}|\d\d)[-/ ]?([qhwpm]\d{{1,2}}|(wk|week|period|month)[- ]?\d{{1,2}})|"
    rf"({_YEAR}[年년] ?)?{_M}[月월]( ?{_D}[日일])?|{_D} ({_MONTH}) 1[34]\d\d",
    re.IGNORECASE,
)
# A complete date anywhere in a text.
_INSIDE = re.compile(
    rf"(?<!\d){_YEAR}([-/.])(0?[1-9]|1[0-2])\2{_D}(?!\d)|"
    rf"(?<![\d/.-]){_D}([-/.]){_D}\6{_YEAR}(?!\d)|"
    rf"(?<!\d){_YEAR}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])T\d{{2,6}}|"
    rf"\b{_D}(st|nd|rd|th|\.)?[- ](of )?({_MONTH})\.?[-, ]+{_YEAR}\b|"
    rf"\b({_MONTH})\.? {_D}(st|nd|rd|th)?,? {_YEAR}\b",
    re.IGNORECASE,
)
_MONTH_AND_DAY = re.compile(rf"{_M}([/.-]){_D}\.?")
_SHORT = ((frozenset(("m", "mo", "mm")), 12), (frozenset(("d", "dd")), 31))
_RATIOS = frozenset("acuity vision visual va ratio bp pressure snellen score stage grade".split())
# Several different such values, and all of them: month names, weekdays, quarters, weeks.
_NAMED_PARTS = re.compile(
    rf"({_MONTH})\.?|({_WEEKDAY})\.?|q[1-4]|[1-4]\. ?quarter|quarter [1-4]|w(eek|k)? ?\d{{1,2}}|({_SEASON})",
    re.IGNORECASE,
)
_CLOCK_TIME = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?( ?[ap]m)?", re.IGNORECASE)
_PLAIN_YEAR = re.compile(r"(18|19|20)\d\d")
_YEARS = re.compile(
    r"((before|after|since|until|bis|vor|ab|<=?|>=?|≤|≥) ?)?(18|19|20)\d\d(\.0)?"
    r"( ?(or|and) (earlier|later|before|after|older)| ?\+)?|"
    r"[\[(]?(18|19|20)\d\d ?(-|–|to|\.\.|,) ?(18|19|20)?\d\d[\])]?|\*|(18|19|20)\d[x*0]s?|"
    r"(18|19|20)\d\ds?",
    re.IGNORECASE,
)


def names_a_date(name: str) -> bool:
    """Whether a name is that of a date or of an element of a date finer than the year."""
    words = w.words_of(name)
    word_set = set(words)
    if word_set & w.DURATIONS or _is_year(words):
        return False
    if word_set & w.DATE_ELEMENTS or any(word.endswith(w.DATE_ENDINGS) for word in words):
        return not word_set & w.ABOUT
    return bool(word_set & w.DAY_WORDS and (len(words) == 1 or word_set & w.EVENTS))


def _is_year(words: tuple[str, ...]) -> bool:
    """Whether a name is that of a year alone: "admission_year", not "year_month"."""
    parts = w.DATE_ELEMENTS - {"date", "dates", "datum", "fecha", "data", "dt"}
    return bool(set(words) & w.YEAR_WORDS) and not set(words) & parts


def all_years(texts: Sequence[str]) -> bool:
    """Whether all values are years, ranges of years, or open ends of them."""
    return bool(texts) and all(_YEARS.fullmatch(text) for text in texts)


def dates_of_january_first(texts: Sequence[str]) -> bool:
    """Whether all dates are the first of January of several years: years in the type of dates."""
    plain = [re.sub(r"[ T]00:00(:00(\.0+)?)?.*$", "", text) for text in texts]
    return len(set(plain)) > 1 and all(re.fullmatch(r"\d{4}-01-01", text) for text in plain)


def element_of_date(name: str, texts: Sequence[str], kind: str) -> str | None:
    """How a column shows elements of dates finer than the year, or None."""
    if not texts:
        return None
    if kind in ("date", "time"):
        return None if dates_of_january_first(texts) else "the values are dates or times"
    if any(_DISTINCT.fullmatch(text) or _INSIDE.search(text) for text in texts):
        return None if dates_of_january_first(texts) else "values are written as dates"
    named = names_a_date(name)
    if all_years(texts):
        return None
    if len(set(texts)) > 1 and all(_NAMED_PARTS.fullmatch(text) for text in texts):
        return "the values are months, weeks, quarters, weekdays or seasons"
    words = set(w.words_of(name))
    if _months_and_days(texts) and not words & _RATIOS:
        return "the values are months with days"
    if not words & w.DURATIONS and all(_CLOCK_TIME.fullmatch(text) for text in texts):
        return "the values are times of day"
    numbers = _integers(texts)
    if numbers is None:
        if named and any(any(c.isdigit() for c in text) for text in texts):
            return "the name is that of an element of a date"
        return None
    if named and not _flags(numbers):
        return "the name is that of an element of a date"
    if any(words <= short and set(numbers) == set(range(1, most + 1)) for short, most in _SHORT):
        return "the numbers are all months of a year, or all days of a month"
    return packed_dates(numbers)


def _months_and_days(texts: Sequence[str]) -> bool:
    """Whether the values are months and days (3/14), or both in four digits (0314)."""
    matches = [_MONTH_AND_DAY.fullmatch(text) for text in texts]
    if all(matches):
        parts = [(match[1], match[3]) for match in matches if match]
        return min(len({part[group] for part in parts}) for group in (0, 1)) >= 3
    packed = [re.fullmatch(r"(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])", text) for text in set(texts)]
    return len(packed) >= 12 and all(packed)


def _integers(texts: Sequence[str]) -> list[int] | None:
    matches = [re.fullmatch(r"(-?\d+)(\.0+)?", text) for text in texts]
    return [int(match[1]) for match in matches if match] if all(matches) else None


def _flags(numbers: Sequence[int]) -> bool:
    return set(numbers) <= {0, 1}


def packed_dates(numbers: Sequence[int]) -> str | None:
    """How numbers are packed dates, whatever the name: YYYYMMDD, YYYYMM, YYYYWW, YYYYDDD, epochs."""
    distinct = set(numbers)
    if len(distinct) < 2:
        return None
    if all(_is_day(number) for number in distinct):
        return "the numbers are days, written as YYYYMMDD"
    if len(distinct) >= 5 and all(_is_year_and(number, 100, 12) for number in distinct):
        return "the numbers are months, written as YYYYMM"
    near_weeks = all(190_000 <= n < 210_000 and 1 <= n % 100 <= 53 for n in distinct)
    if len(distinct) >= 8 and near_weeks and {n // 100 for n in distinct} <= _recent():
        return "the numbers are weeks, written as YYYYWW"
    if len(distinct) >= 8 and all(_is_year_and(number, 1000, 366) for number in distinct):
        return "the numbers are days of years, written as YYYYDDD"
    for unit, what in ((1, "seconds"), (1000, "milliseconds"), (10**6, "microseconds")):
        if all(3 * 10**8 * unit <= number <= 21 * 10**8 * unit for number in distinct):
            return f"the numbers are in the range of {what} since 1970"
    return None


def _recent() -> set[int]:
    return set(range(1940, date.today().year + 2))


def _is_year_and(number: int, base: int, most: int) -> bool:
    return 1900 <= number // base <= date.today().year + 1 and 1 <= number % base <= most


def _is_day(number: int) -> bool:
    try:
        return 1880 <= date(number // 10_000, number // 100 % 100, number % 100).year <= 2100
    except ValueError:
        return False
