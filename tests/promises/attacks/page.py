"""The manual's page of attacks: what is released, the attacker, the success, the verdict."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

from tests.promises.attacks.scenario import CHANGED, Scenario, Trial

GROUPS = (
    "roles",
    "milder_roles",
    "everything_else",
    "derived_columns",
    "missing_values",
    "sensitive_attributes",
    "written_values",
    "raw_values",
    "notations",
    "containers",
    "remains",
    "visible_names",
    "release",
    "policies",
    "histories",
    "linkage",
    "earlier_releases",
    "synthetic_files",
    "remedies",
)
"""One module a class of faults."""
SCENARIOS: list[Scenario] = [
    one for group in GROUPS for one in importlib.import_module(f"tests.promises.attacks.{group}").SCENARIOS
]
KNOWN_OPEN: Mapping[str, str] = {}
"""Scenarios that crypsis does not keep back yet, and the subject of the issue that will."""
PAGE = Path(__file__).resolve().parents[3] / "docs" / "attacks.md"
_HEAD = """# Attacks that were carried out

Every line is a release with a known fault, an attack on it, and what crypsis says of it. The attacks are programs that share no
code with crypsis; they know the truth only to count how often they are right. The success is the share of the targeted people
of whom the attacker's claim is true. "Changed" means that `crypsis anonymize` handed over a release on which the same attack
succeeds no more often than chance, within ten points. Where the fault can be removed, the same release without it is "safe".

The tests carry the attacks out again and fail if a verdict is "safe", or another than the one on this page.
Releases that are safe and must be called so are kept beside them, in `test_safe_releases.py`.
"""


def row(one: Scenario, trial: Trial) -> str:
    """A line of the table."""
    success = f"{trial.success:.0%}".replace("%", " %")
    verdict = trial.verdict
    if verdict == CHANGED:
        after = 0.0 if trial.after is None else trial.after
        verdict = "changed" if after <= trial.chance + 0.1 else "safe"
    return f"| {one.name} | {one.release} | {one.attacker} | {success} | {verdict} |"


def rows() -> dict[str, str]:
    """The lines of the page by the name of their scenario."""
    lines = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else []
    known = {one.name for one in SCENARIOS}
    parts = ((line.split(" | ")[0].removeprefix("| "), line) for line in lines)
    return {name: line for name, line in parts if name in known}


def page(trials: Mapping[str, Trial]) -> str:
    """The whole page."""
    parts = [_HEAD]
    for group in dict.fromkeys(one.group for one in SCENARIOS):
        members = [one for one in SCENARIOS if one.group == group and one.name not in KNOWN_OPEN]
        if members:
            parts.append(f"## {group}\n")
            parts.append("| attack | release | attacker | success | verdict |")
            parts.append("| --- | --- | --- | --- | --- |")
            parts += [row(one, trials[one.name]) for one in members]
            parts.append("")
    still = [one for one in SCENARIOS if one.name in KNOWN_OPEN]
    if still:
        parts.append("## Known to be open\n\nThese are not kept back yet.\n")
        parts.append("| release | why |")
        parts.append("| --- | --- |")
        parts += [f"| {one.release} | {KNOWN_OPEN[one.name]} |" for one in still]
        parts.append("")
    return "\n".join(parts)
