"""How numbers of an assessment are told, alike in the terminal, in Markdown and on the page."""

from __future__ import annotations

from collections.abc import Sequence

from crypsis.results import Assessment, Estimate, Finding, Number, Status, Verdict

VERDICTS = {
    Verdict.SAFE: "Safe to release under this policy",
    Verdict.NOT_SAFE: "Not safe to release",
    Verdict.CANNOT_TELL: "Cannot tell whether it is safe",
}
STATES = {
    Status.OUTSIDE: "outside the policy",
    Status.UNKNOWN: "cannot tell",
    Status.WITHIN: "within the policy",
    Status.NOT_ASKED: "not asked",
}
_COLUMNS_TOLD = 6


def number(value: Number | None, unit: str) -> str:
    """A number with its unit: shares in percent, an estimate with its interval."""
    if value is None:
        return "–"
    if isinstance(value, Estimate):
        low, high = (_plain(end, unit) for end in (value.low, value.high))
        return f"{_plain(value.value, unit)} ({low} to {high})"
    return _plain(float(value), unit)


def _plain(value: float, unit: str) -> str:
    if unit == "fraction":
        return "over 99.9 %" if 0.999 < value < 1 else f"{100 * value:.3g} %"
    told = f"{value:,.0f}" if value == int(value) else f"{value:,.3g}"
    return f"{told} {unit}"


def limit(finding: Finding) -> str:
    """The threshold of a finding in words."""
    return f"{finding.comparison} {number(finding.threshold, finding.unit)}"


def exposed(finding: Finding) -> str:
    """How many people a finding exposes."""
    return "–" if finding.people is None else f"{finding.people:,}"


def some(names: Sequence[str], most: int = _COLUMNS_TOLD) -> list[str]:
    """The first names, and how many more there are."""
    more = len(names) - most
    return [*names[:most], *([f"and {more} more"] if more > 0 else [])]


def head(assessment: Assessment) -> str:
    """The verdict in one line."""
    return VERDICTS[assessment.verdict] + ("" if assessment.complete else " (incomplete)")


def guesses(assessment: Assessment) -> str | None:
    """That roles are guesses, said first."""
    guessed = len(assessment.guessed)
    if not guessed:
        return None
    accepted = assessment.parameters.get("accept_guesses")
    after = "They were accepted as they are." if accepted else "Nothing may be decided on guesses."
    return f"{guessed} of {len(assessment.columns)} roles are guesses. {after}"
