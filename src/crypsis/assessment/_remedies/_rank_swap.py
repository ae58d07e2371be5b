"""Findings about links: swap ranks of the original, wider and wider, until links are chance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crypsis.assessment._columns import undecided
from crypsis.assessment._questions import ask_linkage
from crypsis.assessment._remedies._tried import with_outcome
from crypsis.assessment._request import Request
from crypsis.dataset import Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.options import Role
from crypsis.policies import evaluate
from crypsis.policies.findings import NOT_TRIED, Finding, Remedy, Status
from crypsis.tables import Kind

_NOT_ENOUGH = (
    "That is not enough: the columns that are released as they are link records, too. Exclude them, or "
    "anonymize with larger classes first and mask what is left."
)
_TRIED_PERCENTS = (5, 20, 80)
"""By so many percent of the ranks values are swapped, until links no longer exceed the threshold."""
_UNTRIED_PERCENT = 20
"""What is proposed where nothing is tried."""
_FEW_RECORDS = 1_000
"""Where links of so many records exceed the threshold, those of more do not have to be attacked."""
_MAX_ROWS = 50_000
"""Masks of larger originals are proposed, and not tried."""
_REMOVED = (Role.IDENTIFIER, Role.EXCLUDED)
_NUMBERS = (Kind.INTEGER, Kind.NUMBER)


def rank_swap_remedy(finding: Finding, request: Request, *, tried: bool) -> Remedy:
    """Rank swapping of the original's numbers, at the smallest range that meets the threshold.

    The other columns are released as they were decided; what was not decided is excluded.
    """
    original = request.original
    excluded = () if original is None else _not_decided(request, original)
    names = tuple(
        name
        for name in finding.columns
        if original is not None
        and name in original.names
        and name not in excluded
        and original.rows.column(name).kind in _NUMBERS
        and name in request.data.names
        and request.data.rows.column(name).kind in _NUMBERS
    )
    if original is None or not names:
        text = "Exclude or recode the columns that link records."
        return Remedy("exclude_columns", text, {"columns": finding.columns})
    parameters = {"columns": names, "percent": _UNTRIED_PERCENT, "excluded": excluded}
    text = "Mask the original more strongly: swap each value with one of near rank."
    remedy = Remedy("rank_swap", text, parameters, outcome=NOT_TRIED)
    if not tried or original.count > _MAX_ROWS:
        return remedy
    for percent in _TRIED_PERCENTS:
        parameters = {**parameters, "percent": percent}
        masked = _swapped(request, original, parameters)
        if masked is not None and percent != _TRIED_PERCENTS[-1]:
            few = _linked(finding, masked, _FEW_RECORDS)
            if few is not None and few.status is Status.EXCEEDED:
                continue
        after = None if masked is None else _linked(finding, masked, None)
        loss = f"Values move by up to {percent} % of the ranks."
        remedy = with_outcome(replace(remedy, parameters=parameters), finding, after, loss)
        if after is None or after.status is Status.MET:
            return remedy
    return replace(remedy, outcome=f"{remedy.outcome} {_NOT_ENOUGH}")


def _not_decided(request: Request, original: Dataset) -> tuple[str, ...]:
    """The columns of the original that nobody decided to release."""
    left = set(undecided(request.columns, accepted=True))
    left |= {column.column for column in request.columns if column.evidence and not column.override}
    kept = set(request.data.roles) - left
    removed = {*request.data.identifiers, *request.data.excluded} - left
    return tuple(name for name in original.names if name not in kept and name not in removed)


def _swapped(request: Request, original: Dataset, parameters: dict[str, Any]) -> Request | None:
    """The same question of the original with its columns swapped within that range."""
    from crypsis.protection import mask
    from crypsis.protection.masking import RankSwap

    kept = [name for name in original.names if name not in parameters["excluded"]]
    kept = [name for name in kept if request.data.roles.get(name) not in _REMOVED]
    methods: dict[Any, RankSwap] = {
        name: RankSwap(percent=parameters["percent"]) for name in parameters["columns"]
    }
    try:
        data = mask(original, methods, seed=request.seed).data
        masked = Dataset.from_frame(data.to_arrow(kept))
        masked = masked.with_roles({name: request.data.roles[name] for name in kept})
    except (InputError, TooLargeError):
        return None
    row_map = range(original.count)  # masked rows keep their order here
    return replace(request, data=masked, on=None, row_map=row_map)


def _linked(finding: Finding, request: Request, most_records: int | None) -> Finding | None:
    """The same finding of the swapped records."""
    try:
        outcome = ask_linkage(request, most_records=most_records)
    except (InputError, TooLargeError):
        return None
    findings = evaluate(request.policy, outcome.measured)
    return next((repeated for repeated in findings if repeated.measure == finding.measure), None)
