"""What a question brings, and how numbers are said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from crypsis.errors import InputError, TooLarge
from crypsis.policy import Measurement, Policy
from crypsis.results import Result


@dataclass(frozen=True)
class Asked:
    """What a question brought: numbers for the policy, results for the report, notes."""

    headline: str
    measured: list[Measurement] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    stopped: bool = False


def unanswered(
    question: str, policy: Policy, why: str, *, applies: bool = True, asked: bool = False
) -> Asked:
    """A question without an answer: every threshold of it stays open, or does not apply."""
    measured = [
        Measurement(one.measure, None, why, crowd=one.crowd, applies=applies, asked=asked)
        for one in policy.of(question)
    ]
    return Asked(why, measured)


def guarded(question: str, policy: Policy, ask: Callable[[], Asked]) -> Asked:
    """An answer, or why there is none; errors never quote data."""
    try:
        return ask()
    except (InputError, TooLarge) as error:
        return unanswered(question, policy, str(error), asked=True)


def people(count: int) -> str:
    """One person, or so many people."""
    return "one person" if count == 1 else f"{count:,} people"


def percent(share: float) -> str:
    """A share in percent that never rounds something to nothing, or nearly all to all."""
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    return f"{100 * share:.3g} %"
