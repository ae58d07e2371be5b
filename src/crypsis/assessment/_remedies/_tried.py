"""A remedy with its measured effect."""

from __future__ import annotations

from dataclasses import replace

from crypsis.policies.findings import Finding, Remedy, Status
from crypsis.report.wording import STATUSES, number


def with_outcome(remedy: Remedy, finding: Finding, after: Finding | None, loss: str) -> Remedy:
    """A remedy that was tried: the value of the measure after it, and the information loss."""
    if after is not None and after.status is Status.NOT_ASKED:
        text = f"Tried: then there is nothing to measure. {after.statement} {loss}".rstrip()
        return replace(remedy, tried=True, outcome=text, loss=loss)
    if after is None or after.value is None:
        why = "" if after is None else f" {after.statement}"
        text = f"Tried: after it the measure could not be evaluated.{why}"
        return replace(remedy, tried=True, outcome=text)
    value = number(after.value, finding.unit)
    outcome = f"Tried: the value becomes {value}, {STATUSES[after.status]}. {loss}".rstrip()
    return replace(remedy, tried=True, value_after=after.value, outcome=outcome, loss=loss)
