"""The columns: their roles, and identifiers, places, dates and ages that a policy limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from crypsis.assessment._request import Request
from crypsis.assessment._safe_harbor import safe_harbor_measures
from crypsis.columns.profile import ColumnProfile, profile_columns
from crypsis.columns.roles import CONFIDENT
from crypsis.columns.safe_harbor import AGE_LIMIT, names_an_age_in_years
from crypsis.dataset import Dataset
from crypsis.options import Role
from crypsis.policies import Measurement, Policy
from crypsis.policies.assessed import ColumnRole
from crypsis.report.wording import plural, undecided_text

DECIDE = "Set {roles}; {excluded} is for columns that are not released."


def describe_columns(data: Dataset, seed: int, *, exact: bool = False) -> tuple[ColumnRole, ...]:
    """Every column with its role: the one decided, else the one guessed."""
    profiles, _ = profile_columns(data, exact=exact, seed=seed)
    return tuple(map(_column, profiles))


def _column(profile: ColumnProfile) -> ColumnRole:
    shared = {part.name: getattr(profile, part.name) for part in fields(ColumnRole)}
    return ColumnRole(**{**shared, "role": profile.role.value})


def with_roles(data: Dataset, columns: Sequence[ColumnRole]) -> Dataset:
    """The data with every column's role, decided or guessed."""
    return data.with_roles({column.column: Role(column.role) for column in columns})


def measure_columns(request: Request) -> list[Measurement]:
    """The measures of columns; those that need the values only if the policy limits them."""
    data, columns = request.data, request.columns
    identifying = [column.column for column in columns if column.role == Role.IDENTIFIER.value]
    free = [column.column for column in columns if column.free_text]
    by_evidence = [column.column for column in against_evidence(columns)]
    rules = {
        "direct_identifiers": (identifying, "is a direct identifier", "are direct identifiers"),
        "identifiers_by_evidence": (
            by_evidence,
            "looks like a direct identifier and has another role without a written reason",
            "look like direct identifiers and have other roles without a written reason",
        ),
        "free_text": (free, "contains free text", "contain free text"),
    }
    return [
        _undecided_columns(undecided(columns, accepted=request.accept_guesses)),
        *(
            Measurement(
                f"columns.{name}",
                len(bad),
                f"{plural(len(bad), 'column')} {singular if len(bad) == 1 else several}.",
                tuple(bad),
                data.count if bad else 0,
            )
            for name, (bad, singular, several) in rules.items()
        ),
        *safe_harbor_measures(request),
    ]


def undecided(columns: Sequence[ColumnRole], *, accepted: bool) -> list[str]:
    """The columns that nobody decided; confident guesses may be accepted as decisions."""
    return [
        column.column
        for column in columns
        if column.guessed
        and not (accepted and column.confidence >= CONFIDENT and column.role != Role.UNDECIDED.value)
    ]


def against_evidence(columns: Sequence[ColumnRole]) -> list[ColumnRole]:
    """The columns that look like direct identifiers and have another role without a reason.

    Free text has a measure of its own. An excluded column is not to be released, but is here.
    """
    return [
        column
        for column in columns
        if column.evidence
        and not column.override
        and not column.free_text
        and not column.guessed
        and column.role != Role.IDENTIFIER.value
    ]


def milder_roles(columns: Sequence[ColumnRole], policy: Policy) -> list[ColumnRole]:
    """The columns whose decided role is milder than strong evidence, without a written reason.

    Of sensitive attributes only if the policy asks about inference, of quasi-identifiers only if it
    asks about singling out.
    """
    question_of_role = {Role.SENSITIVE.value: "inference", Role.QUASI_IDENTIFIER.value: "singling_out"}
    return [
        column
        for column in columns
        if column.stricter_role and not column.override and policy.of(question_of_role[column.stricter_role])
    ]


def _undecided_columns(names: Sequence[str]) -> Measurement:
    """Met without such columns; with them it is not evaluated."""
    name = "columns.undecided"
    if not names:
        return Measurement(name, 0, "Every column is decided.")
    return Measurement(name, None, undecided_text(names), tuple(names), requested=True, hint=DECIDE)


def age_limits(data: Dataset, policy: Policy) -> dict[str, float]:
    """The columns of ages that a policy limits to 89, each with the age to top code them at.

    Parameters
    ----------
    data : Dataset
        The data.
    policy : Policy
        The policy; only one that limits `columns.ages_over_89` requires top coding.

    Returns
    -------
    dict
        The limit of each column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from crypsis.policies import load_policy
    >>> people = Dataset.from_frame(pa.table({"age": [30, 95], "pages": [1, 2]}))
    >>> age_limits(people, load_policy("hipaa-safe-harbor"))
    {'age': 90.0}
    """
    if not any(threshold.measure == "columns.ages_over_89" for threshold in policy.of("columns")):
        return {}
    numbers = [column.name for column in data.rows.columns if column.kind.numeric]
    return {name: float(AGE_LIMIT) for name in numbers if names_an_age_in_years(name)}
