"""Nothing is released that was not decided, nor against the evidence without a written reason."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from crypsis.columns.roles import (
    contradictions,
    copies,
    guess,
    linking_columns,
    linking_values,
    panel,
)
from crypsis.dataset import Dataset
from crypsis.errors import ParameterError, RoleError
from crypsis.options import MissingValues

_SHOWN = 20


def check_decided(data: Dataset, recoded: Sequence[str] = (), removed: Sequence[str] = ()) -> None:
    """Raise `RoleError` if a column is undecided that a plan neither recodes nor removes."""
    planned = {*recoded, *removed}
    undecided = tuple(name for name in data.undecided if name not in planned)
    if undecided:
        raise RoleError(
            f"{_subject(undecided)} undecided: {_listed(undecided)}. Nothing is released that was "
            "not decided.",
            code="undecided-columns",
            hint="Set {roles}; {excluded} is for columns that are not released.",
            columns=undecided,
        )


def check_evidence(data: Dataset, pseudonymized: Collection[str] = ()) -> None:
    """Raise `RoleError` if a released column identifies people by strong evidence."""
    found = {name: why for name, why in contradictions(data).items() if name not in pseudonymized}
    if found:
        names = tuple(found)
        reasons = " ".join(f"{name!r}: {why}" for name, why in list(found.items())[:3])
        raise RoleError(
            f"{_subject(names)} released against the evidence: {_listed(names)}. {reasons}",
            code="role-against-evidence",
            hint="Set {identifiers} or {excluded}, or write the reason: {note=override}.",
            columns=names,
        )


def check_person(data: Dataset) -> None:
    """Raise `RoleError` if records may be those of the same people and nobody decided about that.

    k-anonymity of records is none of people who have several of them.
    """
    if data.person is not None:
        return
    absent = data.absent.get("person")
    if absent is not None:
        raise RoleError(
            f"The people are in column {absent!r}, which these data do not have: k would count records, "
            "and all records of a class may be of one person.",
            code="people-not-counted",
            hint="Anonymize the file that has the column, or take it out of the roles if each person "
            "has one record.",
        )
    known = (*data.quasi_identifiers, *data.sensitive)
    others = [name for name in data.names if name not in known]
    named = linking_columns(data, guess(data, columns=others)) if others else ()
    found = named[:1] or linking_values(data)
    if found:
        counted = data.rows.tally(found)
        subject = "Column" if len(found) == 1 else "The columns"
        raise RoleError(
            f"{subject} {_listed(found)} {'repeats' if len(found) == 1 else 'repeat together'}: if "
            f"{'it identifies' if len(found) == 1 else 'they identify'} people, there are "
            f"{int(counted.values):,} people in {counted.rows:,} records, and k would count records.",
            code="person-undecided",
            hint="Set {person} (or {household}) to it, or write whose it is: {note=several_people}.",
            columns=found,
        )
    waves = panel(data)
    if waves:
        raise RoleError(
            f"Records with the same value of {waves[0]!r} hardly ever have the same value of "
            f"{waves[1]!r}, though by chance they would: if they are records of one person at several "
            "times, k would count records.",
            code="person-undecided",
            hint="Set {person}, exclude the column, or write whose records these are: "
            "{note=several_people}.",
            columns=waves,
        )
    times = copies(data)
    if times > 1:
        raise RoleError(
            f"Every record is in the data {times:,} times, or a multiple of that: if these are copies, "
            "as after a join, k would count copies.",
            code="copied-records",
            hint="Remove the copies, or set {person}.",
        )


def _subject(names: Sequence[str]) -> str:
    return "1 column is" if len(names) == 1 else f"{len(names):,} columns are"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more


def check_missing(data: Dataset) -> None:
    """Refuse a reading of missing values that a recoding does not have.

    Recodings suppress values, and count what is missing as a value of its own: the strictest
    reading, in which k is the least.
    """
    if data.missing is MissingValues.VALUE:
        return
    raise ParameterError(
        f"Missing values as {data.missing.value!r} have no effect on a recoding: it counts them as a "
        "value of their own, the strictest reading, in which k is the least.",
        code="missing-has-no-effect",
        hint="Set {missing=value}.",
        parameter="missing",
    )
