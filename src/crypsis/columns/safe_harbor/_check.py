"""A column examined by its declared role, its name and its values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from crypsis.columns.roles import Hipaa
from crypsis.columns.safe_harbor import _ages, _dates, _identifiers, _places
from crypsis.results import Result


@dataclass(frozen=True)
class ColumnValues:
    """What is examined of a column: its name, its role and its distinct values as texts."""

    name: str
    kind: str
    texts: tuple[str, ...] | None
    """The distinct values as in the release, without blanks around them; None if too many."""
    records: int
    identifier: bool = False
    """Whether its declared role is that of a direct identifier."""
    guessed: Hipaa | None = None
    """What the guess of its role found, of the 18 identifiers."""


class SafeHarborHit(Result):
    """An identifier of the Safe Harbor that a column shows, and how."""

    column: str
    part: str
    """`identifiers`, `places`, `dates` or `ages`."""
    item: str
    reason: str


def examine(column: ColumnValues, small_areas: Collection[str] = ()) -> tuple[SafeHarborHit, ...]:
    """The identifiers of the Safe Harbor that a column shows.

    Parameters
    ----------
    column : ColumnValues
        The column.
    small_areas : collection of str
        The first three digits of postal codes whose area has 20,000 people or fewer.

    Returns
    -------
    tuple of SafeHarborHit
        At most one of each part; none if nothing was found.

    Examples
    --------
    >>> ages = ColumnValues("age_group", "text", ("80-84", "95-99"), 40)
    >>> [(hit.part, hit.reason) for hit in examine(ages)]
    [('ages', 'there are ages or age bands above 89')]
    """
    name, kind, guessed = column.name, column.kind, column.guessed
    if column.texts is None:
        what = Hipaa.CODE if guessed is None else guessed
        reason = "there are too many different values to examine"
        return (SafeHarborHit(name, _part(what), what.value, reason),)
    texts = column.texts
    hits = {}
    fine_place = _places.fine_place(name, texts, kind, small_areas)
    when = _dates.element_of_date(name, texts, kind)
    old = _ages.high_age(name, texts) or _ages.old_birth_year(name, texts)
    for part, item, cause in (
        ("places", Hipaa.GEOGRAPHY, fine_place),
        ("dates", Hipaa.DATE, when),
        ("ages", Hipaa.DATE, old),
    ):
        if cause is not None:
            hits[part] = SafeHarborHit(name, part, item.value, cause)
    hit = _identifiers.identifier_name(name, texts, kind, column.records)
    if hit is None and not hits and not _ages.names_an_age(name):
        postal = _places.names_a_postal_code(name) and _places.postal_areas(texts, integers=True)
        hit = None if postal else _identifiers.identifier_values(texts, kind, column.records)
    if hit is None and not hits and guessed not in (None, Hipaa.GEOGRAPHY, Hipaa.DATE):
        hit = (guessed, "the name or the values indicate it")
    if hit is None and column.identifier:
        hit = (guessed or Hipaa.CODE, "it is declared a direct identifier")
    if hit is not None:
        part = _part(hit[0])
        hits.setdefault(part, SafeHarborHit(name, part, hit[0].value, hit[1]))
    return tuple(hits.values())


def _part(item: Hipaa) -> str:
    return {Hipaa.GEOGRAPHY: "places", Hipaa.DATE: "dates"}.get(item, "identifiers")


def postal_areas_of(column: ColumnValues) -> tuple[str, ...]:
    """The three-digit areas of a column of postal codes with no more digits; else none.

    >>> postal_areas_of(ColumnValues("zip", "text", ("941**", "021**"), 9))
    ('941', '021')
    """
    if column.texts is None or not _places.names_a_postal_code(column.name):
        return ()
    integers = column.kind in ("integer", "number")
    return tuple(_places.postal_areas(column.texts, integers=integers) or ())


def names_an_age_in_years(name: str) -> bool:
    """Whether a name is that of an age in years.

    >>> names_an_age_in_years("age_at_admission"), names_an_age_in_years("pages")
    (True, False)
    """
    return _ages.names_an_age(name) and _ages.years_in(name) == 1
