"""Results held against a policy: each threshold becomes a finding, and all of them a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crypsis.policy._measures import measure
from crypsis.policy._policy import Policy, Threshold
from crypsis.results import Estimate, Finding, Number, Result, Severity, Status, Verdict


@dataclass(frozen=True)
class Measurement(Result):
    """What was measured, of which columns, and how many people it exposes."""

    measure: str
    value: Number | None
    """None where it could not be measured; `statement` then says what is missing."""
    statement: str
    columns: tuple[str, ...] = ()
    people: int | None = None
    crowd: int | None = None
    applies: bool = True
    """False where the question does not arise, such as inference without a sensitive column."""
    asked: bool = False
    """Somebody asked for it: without a number one cannot tell, even where it is not required."""
    floor: bool = False
    """The true number may be higher: it can break a limit, and cannot meet one."""


def hold(policy: Policy, measured: Sequence[Measurement]) -> tuple[Finding, ...]:
    """A finding for each threshold and what was measured of it, the worst first.

    An estimate is within a limit only with its whole interval, and outside only with its whole
    interval; between these one cannot tell.
    """
    findings = []
    for threshold in policy.thresholds:
        for one in measured:
            if one.measure == threshold.measure and one.crowd in (None, threshold.crowd):
                findings.append(_finding(policy, threshold, one))
        if not any(one.measure == threshold.measure for one in measured):
            findings.append(_finding(policy, threshold, _unmeasured(threshold)))
    return tuple(sorted(findings, key=_rank))


def verdict(findings: Sequence[Finding], missing: Sequence[str]) -> Verdict:
    """Not safe where a threshold is broken; safe where all hold and nothing is missing."""
    if any(one.status is Status.OUTSIDE for one in findings):
        return Verdict.NOT_SAFE
    unknown = any(one.status is Status.UNKNOWN for one in findings)
    return Verdict.CANNOT_TELL if unknown or missing or not findings else Verdict.SAFE


def _unmeasured(threshold: Threshold) -> Measurement:
    return Measurement(threshold.measure, None, "It was not measured.", crowd=threshold.crowd)


def _finding(policy: Policy, threshold: Threshold, one: Measurement) -> Finding:
    status = _status(threshold, one)
    return Finding(
        question=measure(threshold.measure).question,
        measure=threshold.measure,
        status=status,
        severity=threshold.severity if status is Status.OUTSIDE else Severity.NONE,
        statement=one.statement,
        value=one.value,
        comparison=threshold.comparison,
        threshold=threshold.limit,
        unit=threshold.unit,
        crowd=threshold.crowd,
        why=threshold.why,
        source=threshold.source or policy.source,
        columns=one.columns,
        people=one.people if status is Status.OUTSIDE else None,
    )


def _status(threshold: Threshold, one: Measurement) -> Status:
    if not one.applies:
        return Status.NOT_ASKED
    if one.value is None:
        return Status.UNKNOWN if threshold.required or one.asked else Status.NOT_ASKED
    low, high = _ends(one.value)
    if threshold.at_most is not None:
        within, outside = high <= threshold.limit, low > threshold.limit
    else:
        within, outside = low >= threshold.limit, high < threshold.limit
    if within and not one.floor:
        return Status.WITHIN
    return Status.OUTSIDE if outside else Status.UNKNOWN


def _ends(value: Number) -> tuple[float, float]:
    if isinstance(value, Estimate):
        return value.low, value.high
    return float(value), float(value)


def _rank(finding: Finding) -> tuple[int, int, int, str, tuple[str, ...]]:
    return (
        list(Status).index(finding.status),
        list(Severity).index(finding.severity),
        -(finding.people or 0),
        finding.measure,
        finding.columns,
    )
