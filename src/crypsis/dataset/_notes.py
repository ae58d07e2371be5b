"""What the owner of the data writes about a column besides its role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from crypsis.errors import ParameterError
from crypsis.results import Result

_MIN_REASON_LETTERS = 3
"""Initials, or n/a, are no reason."""


class ColumnNote(Result):
    """What the owner wrote about a column besides its role, in the roles file.

    Examples
    --------
    >>> ColumnNote(override="Numbers of parcels, not of telephones.").sign_off
    ''
    """

    override: str = ""
    """The reason for a role that contradicts the evidence; it is shown in every report."""
    harmless: tuple[str | int | float | bool, ...] = ()
    """The values of a sensitive attribute that may become known of a person, such as "none"."""
    sign_off: str = ""
    """The reason why an intruder cannot know an insensitive attribute."""
    known_to: str = ""
    """Who knows the values, such as "holder only"."""
    hierarchy: str = ""
    """The file with the hierarchy of the values, relative to the roles file."""
    priors: Mapping[Any, float] = field(default_factory=dict)
    """The share of people with each value in the population, such as a published rate."""
    several_people: str = ""
    """The reason why an identifier that repeats is not that of one person, such as a doctor's."""
    public_presence: str = ""
    """The reason why it is public who is in the table, although that discloses the value."""
    weight: float | None = None
    """How much the detail of a quasi-identifier matters; 0 if it may be dropped."""
    keep: int | str | None = None
    """The coarsest level of a quasi-identifier that is allowed: 0 as it is; or a unit of dates."""
    may_change: bool = False
    """Whether a sensitive attribute may be generalized or dropped where that costs less."""

    def __post_init__(self) -> None:
        for part in ("override", "sign_off", "public_presence"):
            text = getattr(self, part)
            if text and not is_reason(text):
                raise ParameterError(
                    f"{text!r} is not a reason: it must say why, in words.", code="no-reason", parameter=part
                )


def is_reason(text: object) -> bool:
    """Whether a text can be a reason: it has letters, more than initials.

    >>> is_reason("Parcels."), is_reason("."), is_reason("n/a")
    (True, False, False)
    """
    return isinstance(text, str) and sum(map(str.isalpha, text)) >= _MIN_REASON_LETTERS


def with_priors(
    notes: Mapping[str, ColumnNote], priors: Mapping[str, Mapping[Any, float]] | None
) -> dict[str, ColumnNote]:
    """Notes with these priors in addition."""
    notes_by_name = dict(notes)
    for name, rates in (priors or {}).items():
        check_priors(name, rates)
        notes_by_name[name] = replace(notes_by_name.get(name, ColumnNote()), priors=dict(rates))
    return notes_by_name


def check_priors(name: str, rates: Any) -> None:
    """Raise unless these are shares of the values of a column."""
    valid = isinstance(rates, Mapping) and all(
        isinstance(rate, int | float) and not isinstance(rate, bool) and 0 <= rate <= 1
        for rate in rates.values()
    )
    if not valid or sum(rates.values()) > 1 + 1e-9:
        raise ParameterError(
            f"The priors of column {name!r} must be shares from 0 to 1 by value, at most 1 together.",
            parameter="priors",
            columns=(name,),
        )
