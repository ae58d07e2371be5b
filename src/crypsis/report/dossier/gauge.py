"""The gauge: how likely a person is recognized, before and after, and what is allowed."""

from __future__ import annotations

from typing import Any

from crypsis.policies.assessed import AssessmentData
from crypsis.report.dossier.blocks import Bar, Bars
from crypsis.results import percent_text

_HIGHEST = "k-anonymity"
_AVERAGE = "average risk (prosecutor)"


def risk_gauge(assessment: AssessmentData) -> Bars | None:
    """How likely a person is recognized, in the original where it is known and in the release.

    Parameters
    ----------
    assessment : AssessmentData
        The assessment; None is returned if it did not look for single people.
    """
    answer = assessment.answer("singling_out")
    classes: Any = None if answer is None else answer.results.get("equivalence_classes")
    if classes is None:
        return None
    changes = {change.measure: change for change in assessment.changes}
    limit = _risk_limit(assessment)
    bars = []
    for label, now, change in (
        ("most exposed", float(classes.risk.prosecutor.maximum), changes.get(_HIGHEST)),
        ("on average", float(classes.risk.prosecutor.average), changes.get(_AVERAGE)),
    ):
        if change is not None:
            before = 1 / max(1.0, change.before) if change.measure == _HIGHEST else change.before
            bars.append(Bar(f"Original, {label}", before, percent_text(before)))
        tone = "plain"
        if limit is not None and label == "most exposed":
            tone = "bad" if now > limit * (1 + 1e-9) else "good"
        name = f"Release, {label}" if change is not None else label.capitalize()
        bars.append(Bar(name, now, percent_text(now), tone))
    text = "" if limit is None else f"the highest risk allowed is {percent_text(limit)}"
    title = "How likely a person is recognized by someone who knows the quasi-identifiers"
    return Bars(title, tuple(bars), limit, text)


def _risk_limit(assessment: AssessmentData) -> float | None:
    """The highest risk of a record that the policy allows, where it limits class sizes."""
    sizes = []
    for finding in assessment.findings:
        if finding.measure == "singling_out.k_anonymity":
            sizes.append(finding.threshold)
        elif finding.measure == "singling_out.records_in_small_classes" and finding.threshold == 0:
            sizes.append(float(finding.k or 1))
    return 1 / max(sizes) if sizes and max(sizes) >= 1 else None
