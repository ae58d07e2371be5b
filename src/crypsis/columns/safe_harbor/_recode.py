"""Recoding a column to what the Safe Harbor allows: the year, three digits, 90 and older."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime
from typing import Literal, TypeAlias

from crypsis.columns.safe_harbor import _ages, _dates, _places
from crypsis.columns.safe_harbor import _words as w
from crypsis.columns.safe_harbor._check import ColumnValues, SafeHarborHit, examine

Recoding: TypeAlias = Literal["year", "zip3", "age", "drop"]
SMALL_AREAS_2000 = tuple("036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893".split())
"""Three-digit areas of 20,000 people or fewer in the Census of 2000 (HHS 2012)."""
_CATEGORY = "90+"


def recoding_of(
    column: ColumnValues, hits: Sequence[SafeHarborHit], small_areas: Collection[str] = ()
) -> Recoding:
    """The recoding after which a column shows none of these identifiers; else it is dropped.

    Parameters
    ----------
    column : ColumnValues
        The column.
    hits : sequence of SafeHarborHit
        What `examine` found in it.
    small_areas : collection of str
        As for `examine`.

    Returns
    -------
    {"year", "zip3", "age", "drop"}

    Examples
    --------
    >>> column = ColumnValues("admitted_on", "text", ("2019-04-01", "2020-07-30"), 2)
    >>> recoding_of(column, examine(column))
    'year'
    """
    wanted: dict[str, Recoding] = {"dates": "year", "places": "zip3", "ages": "age"}
    parts = {hit.part for hit in hits}
    first: Recoding = next((wanted[part] for part in ("dates", "places", "ages") if part in parts), "drop")
    if "identifiers" in parts or column.texts is None or column.identifier:
        return "drop"
    if first == "age" and _ages.old_birth_year(column.name, column.texts) is not None:
        first = "year"
    if first == "zip3" and not _places.names_a_postal_code(column.name):
        return "drop"
    after = recoded(column.name, column.texts, column.kind, first)
    if not any(after):
        return "drop"
    texts = tuple(dict.fromkeys(text for text in after if text is not None))
    kind = "integer" if first == "year" and all(text.isdecimal() for text in texts) else column.kind
    checked = ColumnValues(column.name, kind if first == "year" else "text", texts, column.records)
    if first == "age" and column.kind in ("integer", "number"):
        checked = ColumnValues(column.name, column.kind, texts, column.records)
    return "drop" if examine(checked, small_areas) else first


def recoded(
    name: str,
    texts: Sequence[str],
    kind: str,
    recoding: Recoding,
    small_areas: Collection[str] = SMALL_AREAS_2000,
) -> list[str | None]:
    """The values of a column after a recoding; None where nothing remains.

    Parameters
    ----------
    name : str
        The name of the column; years of birth are bottom coded at the age of 90.
    texts : sequence of str
        The values.
    kind : str
        The type of the column.
    recoding : {"year", "zip3", "age", "drop"}
        The recoding.
    small_areas : collection of str
        The areas that become 000.

    Returns
    -------
    list of str or None

    Examples
    --------
    >>> recoded("zip", ["94110", "03601"], "text", "zip3"), recoded("age", ["92"], "integer", "age")
    (['941', '000'], ['90'])
    """
    if recoding == "drop":
        return [None] * len(texts)
    if recoding == "zip3":
        return [_area(text, small_areas) for text in texts]
    if recoding == "age":
        unit = _ages.years_in(name)
        numeric = kind in ("integer", "number")
        limit = _ages.AGE_LIMIT * unit
        top = f"{limit:g}" if numeric else _CATEGORY
        return [top if _ages.shows(text, unit) or _written(text) else text for text in texts]
    packed = _packed(texts) if kind in ("integer", "number") else None
    years = packed if packed is not None else [_year(text) for text in texts]
    if _ages.names_a_birth_year(name) or set(w.words_of(name)) & w.COHORT_WORDS:
        oldest = date.today().year - _ages.AGE_LIMIT
        years = [None if year is None else max(year, oldest) for year in years]
    return [None if year is None else str(year) for year in years]


def _written(text: str) -> bool:
    return _ages.high_age("", [text]) is not None


def _area(text: str, small: Collection[str]) -> str | None:
    digits = re.sub(r"\.0+$", "", text)
    matched = re.fullmatch(r"(\d{1,5})(-?\d{4})?|(\d{3})\D{2}", digits)
    if matched is None:
        return None
    code = matched[3] or matched[1].zfill(5)[:3]
    return "000" if code in small else code


def _year(text: str) -> int | None:
    """The one year that is written with four digits."""
    years = set(re.findall(r"(?<!\d)(?:18|19|20)\d\d(?!\d)|^(?:19|20)\d\d(?=\d{4}$)", text))
    return int(years.pop()) if len(years) == 1 else None


def _packed(texts: Sequence[str]) -> list[int | None] | None:
    """The years of numbers that are packed dates."""
    numbers = [int(float(text)) for text in texts]
    notation = _dates.packed_dates(numbers)
    if notation is None:
        return None
    if "since 1970" in notation:
        unit = 1 if "range of seconds" in notation else 1000 if "milli" in notation else 10**6
        return [datetime.fromtimestamp(number / unit, UTC).year for number in numbers]
    base = {"YYYYMMDD": 10_000, "YYYYDDD": 1000}.get(notation.rsplit(" ", 1)[1], 100)
    return [number // base for number in numbers]
