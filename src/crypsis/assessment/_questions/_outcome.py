"""What a question returns to the assessment."""

from __future__ import annotations

from dataclasses import dataclass, field

from crypsis.policies import Measurement, Policy
from crypsis.results import Result


@dataclass
class QuestionOutcome:
    """Measurements for the policy, results for the report, a headline and notes."""

    headline: str = ""
    measured: list[Measurement] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    hint: str = ""
    stopped: bool = False


def not_evaluated(
    question: str, policy: Policy, why: str, *, hint: str = "", applies: bool = True, requested: bool = False
) -> QuestionOutcome:
    """A question without an answer: its thresholds are not evaluated, or do not apply."""
    measured = [
        Measurement(
            threshold.measure,
            None,
            why,
            k=threshold.k,
            events=threshold.events,
            applies=applies,
            requested=requested,
            hint=hint,
        )
        for threshold in policy.of(question)
    ]
    return QuestionOutcome(why, measured, hint=hint)
