"""The least that must change: for each finding a command that can be pasted."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crypsis._assess._columns import measure_columns
from crypsis._assess._questions import ask_inference, ask_singling_out
from crypsis.errors import InputError, PromiseBroken, TooLarge
from crypsis.policy import Policy, hold
from crypsis.release import Release
from crypsis.results import ColumnRole, Finding, Remedy, Status


@dataclass(frozen=True)
class Setting:
    """What the commands are about."""

    release: Release
    columns: tuple[ColumnRole, ...]
    policy: Policy
    source: tuple[str, ...]
    """The words of a command line that name the data and say how to read it."""
    seed: int

    @property
    def guessed(self) -> bool:
        """Whether somebody must still decide on roles."""
        return any(one.guessed for one in self.columns)


@dataclass(frozen=True)
class Trial:
    """What the proposed anonymization came to: findings of its outcome, or why there is none."""

    findings: tuple[Finding, ...]
    lost: str
    failed: str = ""


def with_remedies(
    findings: Sequence[Finding], setting: Setting, *, tried: bool
) -> tuple[Finding, ...]:
    """The findings outside the policy with what to do about them, tried out or not."""
    outside = [one for one in findings if one.status is Status.OUTSIDE]
    wanted = tried and any(one.question in _ANONYMIZED for one in outside)
    trial = try_out(setting) if wanted else None
    return tuple(
        replace(one, remedy=remedy(one, setting, trial)) if one in outside else one
        for one in findings
    )


def remedy(finding: Finding, setting: Setting, trial: Trial | None = None) -> Remedy:
    """What to do about one finding, and what it was seen to bring."""
    if finding.question not in _ANONYMIZED and finding.measure not in _REMOVED:
        return Remedy(_TEXTS.get(finding.measure, _MASKING), None)
    text = _TEXTS.get(finding.measure, _CROWDS)
    if trial is None:
        return Remedy(text, command(setting))
    if trial.failed:
        return Remedy(text, command(setting), True, None, f"Tried: {trial.failed}")
    same = [one for one in trial.findings if one.measure == finding.measure]
    own = [one for one in same if one.columns[:1] == finding.columns[:1]] or same
    if not own or own[0].value is None:
        return Remedy(text, command(setting), True, None, "Tried: it could not be measured after.")
    after = own[0]
    value = float(after.value or 0.0)
    told = f"{100 * value:.3g} %" if finding.unit == "fraction" else f"{value:g} {finding.unit}"
    outcome = f"Tried: it brings this to {told}, {after.status.value} the policy. {trial.lost}"
    return Remedy(text, command(setting), True, after.value, outcome)


def try_out(setting: Setting) -> Trial:
    """Carry the proposed anonymization out in memory, and ask again."""
    from crypsis import anonymize

    release, policy = setting.release, setting.policy
    asked: dict[str, Any] = demands(setting)
    try:
        made = anonymize.plan(release, **asked).apply(release, local=not _secrets_asked(asked))
        after = made.release
        columns = [one for one in setting.columns if one.column in after.names]
        measured = measure_columns(after, columns, policy)
        measured += ask_singling_out(after, policy, setting.seed, search=False).measured
        measured += ask_inference(after, policy, setting.seed).measured
    except (InputError, TooLarge, PromiseBroken) as error:
        return Trial((), "", str(error))
    gone = f"{made.loss.rows_suppressed:,} of {made.loss.rows:,} rows are left out"
    variety = "" if made.loss.ncp is None else f", {made.loss.ncp:.0%} of the variety is lost"
    return Trial(hold(policy, measured), f"{gone}{variety}.")


def _secrets_asked(asked: Mapping[str, float]) -> bool:
    return "closeness" in asked or "diversity" in asked


def command(setting: Setting) -> str:
    """The anonymization that meets the policy's limits on crowds and secrets, as one command.

    Roles go through a file: names of columns may hold anything, a command line may not.
    """
    words = ["crypsis", "anonymize", *setting.source, "--roles", "roles.toml"]
    for option, value in demands(setting).items():
        words += [f"--{option.replace('_', '-')}", f"{value:g}"]
    if _secrets_asked(demands(setting)):
        words.append("--same-levels")  # row by row it takes too long to look after secrets as well
    words += ["-o", "anonymous.parquet"]
    line = " ".join(map(shlex.quote, words))
    if not setting.guessed:
        return line
    save = ["crypsis", "scan", *setting.source, "--save", "roles.toml"]
    return " ".join(map(shlex.quote, save)) + "  # then correct roles.toml\n" + line


def demands(setting: Setting) -> dict[str, int | float]:
    """What to ask of an anonymization, by the keywords of `anonymize.plan`."""
    asked: dict[str, int | float] = {}
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


_ANONYMIZED = frozenset({"singling_out", "inference"})
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
