"""The least that must change: for each finding a command that can be pasted, tried out or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crypsis._assess._remedies._crowds import Trial, anonymized, try_out
from crypsis._assess._remedies._links import masked
from crypsis._assess._remedies._pseudonyms import without_exposed
from crypsis._assess._remedies._setting import Setting
from crypsis.results import Finding, Remedy, Status

__all__ = ["Setting", "with_remedies"]


def with_remedies(
    findings: Sequence[Finding], setting: Setting, *, tried: bool
) -> tuple[Finding, ...]:
    """The findings outside the policy with what to do about them, tried out or not."""
    outside = [one for one in findings if one.status is Status.OUTSIDE]
    wanted = tried and any(one.question in _ANONYMIZED for one in outside)
    trial = try_out(setting) if wanted else None
    return tuple(
        replace(one, remedy=_remedy(one, setting, trial, tried)) if one in outside else one
        for one in findings
    )


def _remedy(finding: Finding, setting: Setting, trial: Trial | None, tried: bool) -> Remedy:
    """What to do about one finding, and what it was seen to bring."""
    if finding.question == "linkage":
        return masked(finding, setting, tried=tried)
    if finding.question == "pseudonyms":
        return without_exposed(finding, setting, tried=tried)
    text = _TEXTS.get(finding.measure, _CROWDS)
    if finding.question in _ANONYMIZED or finding.measure in _REMOVED:
        return anonymized(finding, setting, text, trial)
    return Remedy(text, None)


_ANONYMIZED = frozenset({"singling_out", "inference"})
_REMOVED = frozenset({"columns.identifiers", "columns.hipaa_identifiers"})
_CROWDS = "Coarsen the columns that others may know, until everyone stands in a crowd."
_TEXTS = {
    "columns.identifiers": "Leave these columns out; anonymize removes identifiers.",
    "columns.hipaa_identifiers": "Leave these columns out; anonymize removes identifiers.",
    "columns.free_text": "Leave these columns out, or have people read and redact every text.",
    "columns.fine_places": "Keep three digits of postal codes (000 for small areas), or the state.",
    "columns.fine_dates": "Keep the year only.",
    "columns.high_ages": "Put all ages above 89 into one group, 90 and older.",
    "inference.best_guess_gain": "Widen the groups until none tells the secret.",
}
