"""Measurements compared with a policy: each threshold gives a finding, all of them the verdict."""

from __future__ import annotations

from collections.abc import Sequence

from crypsis.policies._measures import measure
from crypsis.policies._policy import Policy, Threshold
from crypsis.policies.findings import Finding, Reason, Severity, Status, Verdict
from crypsis.results import Estimate, Number, Result


class Measurement(Result):
    """The value of a measure, of which columns, and how many records it affects.

    `value` is None where it could not be measured; `statement` then says why, and `hint` what to
    provide. `applies` is False where the question does not arise, such as inference without a
    sensitive attribute. With `requested` a missing value means "cannot tell" even if the threshold
    is not required. With `lower_bound` the true value may be higher: the threshold can be exceeded,
    not met.
    """

    measure: str
    value: Number | None
    statement: str
    columns: tuple[str, ...] = ()
    affected: int | None = None
    k: int | None = None
    events: int | None = None
    applies: bool = True
    requested: bool = False
    lower_bound: bool = False
    hint: str = ""


def evaluate(policy: Policy, measured: Sequence[Measurement]) -> tuple[Finding, ...]:
    """A finding for each threshold and each measurement of it, the worst first.

    Parameters
    ----------
    policy : Policy
        The thresholds.
    measured : sequence of Measurement
        What was measured; a threshold without a measurement is not evaluated.

    Returns
    -------
    tuple of Finding

    Notes
    -----
    An estimate meets a threshold only with its complete interval, and exceeds it only with its
    complete interval; in between the threshold is not evaluated.

    Examples
    --------
    >>> from crypsis.policies import load_policy
    >>> k = Measurement("singling_out.k_anonymity", 3, "k = 3.")
    >>> finding = next(f for f in evaluate(load_policy("ema-0070"), [k]) if f.value is not None)
    >>> finding.measure, finding.status.value, finding.threshold
    ('singling_out.k_anonymity', 'exceeded', 11.0)
    """
    findings = []
    for threshold in policy.thresholds:
        name = threshold.measure
        of_it = [measured_value for measured_value in measured if measured_value.measure == name]
        for measured_value in of_it or [Measurement(name, None, "It was not measured.")]:
            if measured_value.k in (None, threshold.k) and measured_value.events in (None, threshold.events):
                findings.append(_finding(policy, threshold, measured_value))
    return tuple(sorted(findings, key=_rank))


def verdict(findings: Sequence[Finding], reasons: Sequence[Reason]) -> Verdict:
    """Not safe if a threshold is exceeded; safe if all are met and nothing is missing.

    Parameters
    ----------
    findings : sequence of Finding
        All findings of a policy.
    reasons : sequence of Reason
        What else keeps the release from being called safe, such as guessed roles.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> verdict([], [])
    <Verdict.CANNOT_TELL: 'cannot tell'>
    """
    if any(finding.status is Status.EXCEEDED for finding in findings):
        return Verdict.NOT_SAFE
    unknown = any(finding.status is Status.NOT_EVALUATED for finding in findings)
    return Verdict.CANNOT_TELL if unknown or reasons or not findings else Verdict.SAFE


def _finding(policy: Policy, threshold: Threshold, measurement: Measurement) -> Finding:
    status = _status(threshold, measurement)
    return Finding(
        question=measure(threshold.measure).question,
        measure=threshold.measure,
        status=status,
        severity=threshold.severity if status is Status.EXCEEDED else Severity.NONE,
        statement=measurement.statement[:1].upper() + measurement.statement[1:],
        value=measurement.value,
        comparison=threshold.comparison,
        threshold=threshold.limit,
        unit=threshold.unit,
        k=threshold.k,
        why=threshold.why,
        source=threshold.source or policy.source,
        columns=measurement.columns,
        affected=measurement.affected if status is Status.EXCEEDED else None,
        hint=measurement.hint,
    )


def _status(threshold: Threshold, measurement: Measurement) -> Status:
    if not measurement.applies:
        return Status.NOT_ASKED
    if measurement.value is None:
        return Status.NOT_EVALUATED if threshold.required or measurement.requested else Status.NOT_ASKED
    low = high = measurement.value
    if isinstance(measurement.value, Estimate):
        low, high = measurement.value.low, measurement.value.high
    if threshold.at_most is not None:
        met, exceeded = high <= threshold.limit, low > threshold.limit
    else:
        met, exceeded = low >= threshold.limit, high < threshold.limit
    if met and not measurement.lower_bound:
        return Status.MET
    return Status.EXCEEDED if exceeded else Status.NOT_EVALUATED


def _rank(finding: Finding) -> tuple[int, int, int, str, tuple[str, ...]]:
    return (
        list(Status).index(finding.status),
        list(Severity).index(finding.severity),
        -(finding.affected or 0),
        finding.measure,
        finding.columns,
    )
