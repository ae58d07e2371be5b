"""The least that must change: for each finding a command that can be pasted."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from crypsis.policy import Policy
from crypsis.release import Release
from crypsis.results import Finding, Remedy, Status


@dataclass(frozen=True)
class Setting:
    """What the commands are about."""

    release: Release
    policy: Policy
    source: tuple[str, ...]
    """The words of a command line that name the data and say how to read it."""
    guessed: bool
    seed: int


def with_remedies(
    findings: Sequence[Finding], setting: Setting, *, tried: bool
) -> tuple[Finding, ...]:
    """The findings outside the policy with what to do about them."""
    return tuple(
        replace(one, remedy=remedy(one, setting)) if one.status is Status.OUTSIDE else one
        for one in findings
    )


def remedy(finding: Finding, setting: Setting) -> Remedy:
    """What to do about one finding."""
    if finding.question in ("singling_out", "inference") or finding.measure in _REMOVED:
        return Remedy(_TEXTS.get(finding.measure, _CROWDS), command(setting))
    return Remedy(_TEXTS.get(finding.measure, _MASKING), None)


def command(setting: Setting) -> str:
    """The anonymization that meets the policy's limits on crowds and secrets, as one command.

    Roles go through a file: names of columns may hold anything, a command line may not.
    """
    words = ["crypsis", "anonymize", *setting.source, "--roles", "roles.toml"]
    for option, value in demands(setting).items():
        words += [f"--{option.replace('_', '-')}", f"{value:g}"]
    words += ["-o", "anonymous.parquet"]
    line = " ".join(map(shlex.quote, words))
    if not setting.guessed:
        return line
    save = ["crypsis", "scan", *setting.source, "--save", "roles.toml"]
    return " ".join(map(shlex.quote, save)) + "  # then correct roles.toml\n" + line


def demands(setting: Setting) -> dict[str, float]:
    """What to ask of an anonymization, by the keywords of `anonymize.plan`."""
    asked: dict[str, float] = {}
    crowds = []
    for threshold in setting.policy.of("singling_out"):
        if threshold.crowd is not None:
            crowds.append(threshold.crowd)
        elif threshold.measure == "singling_out.smallest_crowd":
            crowds.append(int(threshold.limit))
    asked["k"] = max(crowds, default=5)
    if setting.release.sensitive:
        limits = {one.measure: one.limit for one in setting.policy.of("inference")}
        if "inference.distinct_values" in limits:
            asked["diversity"] = int(limits["inference.distinct_values"])
        close = [limits[name] for name in _CLOSE if name in limits]
        if close:
            asked["closeness"] = min(close)
    return asked


_CLOSE = ("inference.closeness", "inference.ordered_closeness", "inference.best_guess_gain")
_REMOVED = frozenset({"columns.identifiers", "columns.hipaa_identifiers"})
_CROWDS = "Coarsen the columns that others may know, until everyone stands in a crowd."
_MASKING = "Mask more strongly, and measure again."
_TEXTS = {
    "columns.identifiers": "Leave these columns out; anonymize removes identifiers.",
    "columns.hipaa_identifiers": "Leave these columns out; anonymize removes identifiers.",
    "columns.free_text": "Leave these columns out, or have people read and redact every text.",
    "columns.fine_places": "Keep three digits of postal codes (000 for small areas), or the state.",
    "columns.fine_dates": "Keep the year only.",
    "columns.high_ages": "Put all ages above 89 into one group, 90 and older.",
    "inference.best_guess_gain": "Widen the groups until none tells the secret.",
    "linkage.right_links_above_chance":
        "Mask the columns that moved least more strongly; the chapter on linkage lists them.",
    "linkage.nearer_than_strangers":
        "Mask the columns that moved least more strongly; the chapter on linkage lists them.",
    "pseudonyms.crack_share":
        "Leave out or merge the items that are cracked most surely; the chapter on pseudonyms "
        "counts them.",
    "pseudonyms.degree_of_anonymity":
        "Leave out or merge the items that are cracked most surely; the chapter on pseudonyms "
        "counts them.",
}  # fmt: skip
