"""The columns: what each is and who said so, and what the law says of identifiers, places, ages."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from crypsis import roles
from crypsis.engine import Kind, Tally
from crypsis.errors import TooLarge
from crypsis.policy import Measurement, Policy
from crypsis.release import Release, Role
from crypsis.results import ColumnRole
from crypsis.roles import Hipaa
from crypsis.roles._names import said_by
from crypsis.tallies import tallies as column_tallies
from crypsis.tallies import values_of

_OLDEST = 89
_SMALL_AREA = 20_000
_PLACES_AND_TIMES = frozenset({Hipaa.GEOGRAPHY.value, Hipaa.DATE.value})


def look(release: Release, seed: int, *, exact: bool = False) -> tuple[ColumnRole, ...]:
    """Every column with its role: the one decided, else the one guessed."""
    flat = [column.name for column in release.rows.columns if column.kind is not Kind.NESTED]
    tallies = column_tallies(release, flat, exact=exact, seed=seed)
    guesses = roles.guess(release, tallies=tallies, seed=seed)
    return tuple(_column(release, one, tallies.get(one.column)) for one in guesses)


def _column(release: Release, guess: roles.Guess, tally: Tally | None) -> ColumnRole:
    known = release.roles.get(guess.column)
    return ColumnRole(
        column=guess.column,
        kind=release.rows.column(guess.column).kind.value,
        role=(guess.role if known is None else known).value,
        guessed=known is None,
        confidence=guess.confidence if known is None else 1.0,
        reason=guess.reason if known is None else "decided",
        distinct=0 if tally is None else values_of(tally),
        missing=0 if tally is None else tally.missing,
        hipaa=None if guess.hipaa is None else guess.hipaa.value,
        free_text=guess.free_text,
    )


def with_roles(release: Release, columns: Sequence[ColumnRole]) -> Release:
    """The release with every column's role, decided or guessed."""
    return release.with_roles({one.column: Role(one.role) for one in columns})


def measure_columns(
    release: Release, columns: Sequence[ColumnRole], policy: Policy
) -> list[Measurement]:
    """What a policy may say of columns; those that need a look at the values only where asked."""
    asked = {threshold.measure for threshold in policy.of("columns")}
    naming = [one.column for one in columns if one.role == Role.IDENTIFIER.value]
    free = [one.column for one in columns if one.free_text]
    found = [
        _counted("columns.identifiers", naming, "names people by itself", release.count),
        _counted("columns.free_text", free, "holds free text", release.count),
    ]
    listed = [
        one.column
        for one in columns
        if one.hipaa is not None and one.hipaa not in _PLACES_AND_TIMES
    ]
    phrase = "holds one of the 18 identifiers of HIPAA"
    found.append(_counted("columns.hipaa_identifiers", listed, phrase, release.count))
    checks = {
        "columns.fine_places": (_fine_place, "tells places too finely"),
        "columns.fine_dates": (_fine_date, "tells dates to more than the year"),
        "columns.high_ages": (_high_age, "tells ages above 89"),
    }
    for name, (check, phrase) in checks.items():
        if name in asked:
            bad = [one.column for one in columns if check(release, one, policy)]
            found.append(_counted(name, bad, phrase, release.count))
    return found


def _counted(name: str, bad: Sequence[str], phrase: str, rows: int) -> Measurement:
    noun = "column" if len(bad) == 1 else "columns"
    verb = phrase if len(bad) == 1 else _plural(phrase)
    return Measurement(
        name, len(bad), f"{len(bad) or 'No'} {noun} {verb}.", tuple(bad), rows if bad else 0
    )


def _plural(phrase: str) -> str:
    """The verb for several: "names people by itself" becomes "name people by themselves"."""
    verb, _, rest = phrase.partition(" ")
    return f"{verb.removesuffix('s')} {rest}".replace("itself", "themselves")


def _texts(release: Release, column: str) -> list[str] | None:
    """The distinct values of a column as texts, missing ones left out, if they fit."""
    try:
        values = release.cells([column]).values[0].drop_null()
        return [str(text) for text in pc.cast(values, pa.string()).to_pylist()]
    except (TooLarge, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _fine_place(release: Release, one: ColumnRole, policy: Policy) -> bool:
    """Whether a column of places tells more than the rule allows; in doubt it does."""
    if one.hipaa != Hipaa.GEOGRAPHY.value:
        return False
    texts = _texts(release, one.column)
    if texts is None:
        return True
    areas = [re.fullmatch(r"(\d{3})(?:\*\*|XX|xx)?", text.strip()) for text in texts]
    if not texts or not all(areas):
        return bool(texts)
    digits = {area[1] for area in areas if area is not None} - {"000"}
    return any(code in _small_areas(release, one.column, policy, digits) for code in digits)


def _small_areas(release: Release, column: str, policy: Policy, digits: set[str]) -> set[str]:
    """The areas of 20,000 people or fewer: counted in the population's table, else as listed."""
    people = release.population
    if not isinstance(people, Release) or column not in people.names:
        return set(policy.small_zip3)
    cells = people.cells([column])
    counts = dict.fromkeys(digits, 0)
    for value, count in zip(cells.values[0].to_pylist(), cells.counts.tolist(), strict=True):
        code = str(value).strip()[:3]
        if code in counts:
            counts[code] += count
    return {code for code, count in counts.items() if count <= _SMALL_AREA}


def _fine_date(release: Release, one: ColumnRole, policy: Policy) -> bool:
    if one.hipaa != Hipaa.DATE.value:
        return False
    if one.kind in (Kind.DATE.value, Kind.TIME.value):
        return True
    texts = _texts(release, one.column)
    if texts is None:
        return True
    return not all(re.fullmatch(r"\d{4}( ?[-–] ?\d{4})?", text.strip()) for text in texts)


def age_limits(release: Release, policy: Policy) -> dict[str, float]:
    """Columns of ages that a policy wants together above 89, each with the age that stands for it.

    >>> import pyarrow as pa
    >>> from crypsis.policy import load_policy
    >>> people = Release.from_frame(pa.table({"age": [30, 95], "pages": [1, 2]}))
    >>> age_limits(people, load_policy("hipaa-safe-harbor"))
    {'age': 90.0}
    """
    if not any(threshold.measure == "columns.high_ages" for threshold in policy.of("columns")):
        return {}
    numbers = [column.name for column in release.rows.columns if column.kind.numeric]
    signs = {name: said_by(name).sign for name in numbers}
    ages = [name for name, sign in signs.items() if sign is not None and sign.noun == "an age"]
    return dict.fromkeys(ages, _OLDEST + 1.0)


def _high_age(release: Release, one: ColumnRole, policy: Policy) -> bool:
    """Whether ages above 89 stand by themselves; 90 may stand for "90 and older"."""
    sign = said_by(one.column).sign
    if sign is None or sign.noun != "an age":
        return False
    texts = _texts(release, one.column)
    if texts is None:
        return True
    ages = [float(text) for text in texts if re.fullmatch(r"\d{1,3}(\.\d+)?", text.strip())]
    return any(age > _OLDEST and age != _OLDEST + 1 for age in ages)
