"""Findings about crowds and secrets: coarsen, leave out, and measure again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crypsis._assess._columns import measure_columns
from crypsis._assess._questions import ask_inference, ask_singling_out
from crypsis._assess._remedies._setting import Setting, line, seen
from crypsis.errors import InputError, PromiseBroken, TooLarge
from crypsis.policy import hold
from crypsis.results import Finding, Remedy

_CLOSE = ("inference.closeness", "inference.ordered_closeness", "inference.best_guess_gain")


@dataclass(frozen=True)
class Trial:
    """What the proposed anonymization came to: findings of its outcome, or why there is none."""

    findings: tuple[Finding, ...]
    lost: str
    failed: str = ""


def anonymized(finding: Finding, setting: Setting, text: str, trial: Trial | None) -> Remedy:
    """Anonymize by the policy's limits; with a trial, what that was seen to bring."""
    if trial is None:
        return Remedy(text, command(setting))
    if trial.failed:
        return Remedy(text, command(setting), True, None, f"Tried: {trial.failed}")
    same = [one for one in trial.findings if one.measure == finding.measure]
    own = [one for one in same if one.columns[:1] == finding.columns[:1]] or same
    if not own or own[0].value is None:
        return Remedy(text, command(setting), True, None, "Tried: it could not be measured after.")
    return seen(text, command(setting), finding, own[0], trial.lost)


def try_out(setting: Setting) -> Trial:
    """Carry the proposed anonymization out in memory, and ask again."""
    from crypsis import anonymize

    release, policy = setting.release, setting.policy
    asked: dict[str, Any] = demands(setting)
    try:
        made = anonymize.plan(release, **asked).apply(release)
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


def command(setting: Setting) -> str:
    """The anonymization that meets the policy's limits on crowds and secrets, as one command.

    Roles go through a file: names of columns may hold anything, a command line may not.
    """
    words = ["crypsis", "anonymize", *setting.source, "--roles", "roles.toml"]
    for option, value in demands(setting).items():
        words += [f"--{option.replace('_', '-')}", f"{value:g}"]
    words += ["-o", "anonymous.parquet"]
    if not setting.guessed:
        return line(words)
    save = ["crypsis", "scan", *setting.source, "--save", "roles.toml"]
    return f"{line(save)}  # then correct roles.toml\n{line(words)}"


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
