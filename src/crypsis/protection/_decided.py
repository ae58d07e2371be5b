"""Nothing is released that was not decided, nor against the evidence without a written reason."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from crypsis.columns.records import DECIDE_RECORD, UNDECIDED_RECORD, record_evidence
from crypsis.columns.roles import contradictions
from crypsis.dataset import Dataset
from crypsis.errors import ParameterError, RoleError
from crypsis.options import MissingValues

_SHOWN_NAMES = 20
"""A message names so many columns, and counts the others."""


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
    contradicted = {name: why for name, why in contradictions(data).items() if name not in pseudonymized}
    if contradicted:
        names = tuple(contradicted)
        reasons = " ".join(f"{name!r}: {why}" for name, why in list(contradicted.items())[:3])
        raise RoleError(
            f"{_subject(names)} released against the evidence: {_listed(names)}. {reasons}",
            code="role-against-evidence",
            hint="Set {identifiers} or {excluded}, or write the reason: {note=override}.",
            columns=names,
        )


def check_person(data: Dataset) -> None:
    """Raise `RoleError` if it is not decided what a record is, or decided against the evidence.

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
            hint="Anonymize the file that has the column, or set {person=each record} if each person "
            "has one record.",
        )
    if data.each_record and data.person_reason:
        return
    evidence = record_evidence(data)
    if not data.each_record:
        text = " ".join([UNDECIDED_RECORD, *(finding.text for finding in evidence[:1])])
        raise RoleError(text, code="person-undecided", hint=DECIDE_RECORD)
    if evidence:
        first = evidence[0]
        raise RoleError(first.text, code=first.code, hint=first.hint, columns=first.columns)


def _subject(names: Sequence[str]) -> str:
    return "1 column is" if len(names) == 1 else f"{len(names):,} columns are"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(map(repr, names[:_SHOWN_NAMES])) + more


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
