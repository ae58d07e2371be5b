"""An assessment as Markdown: for a pull request, a ticket or a mail."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crypsis.policies.findings import Finding, Status
from crypsis.report import wording
from crypsis.report.wording import Phrasing

if TYPE_CHECKING:
    from crypsis.assessment.result import Assessment


def safe(text: str, most: int = 300) -> str:
    """Text from the data, escaped for Markdown and HTML."""
    clean = wording.visible(text, most)
    clean = clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~!])", r"\\\1", clean)


def assessment_summary(found: Assessment, phrasing: Phrasing | None = None) -> str:
    """Verdict, reasons, thresholds that are not met, and remedies.

    Parameters
    ----------
    found : Assessment
        The assessment.
    phrasing : Phrasing, optional
        How remedies and options are worded; by default as Python calls.
    """
    shown = [one for one in found.findings if one.status in _NOT_MET]
    return "\n".join([*_summary(found, phrasing or Phrasing(), shown), ""])


def assessment_markdown(found: Assessment, phrasing: Phrasing | None = None) -> str:
    """Verdict, reasons, findings, questions and columns.

    Parameters
    ----------
    found : Assessment
        The assessment.
    phrasing : Phrasing, optional
        How remedies and options are worded; by default as Python calls.
    """
    words = phrasing or Phrasing()
    lines = _summary(found, words, found.findings)
    if found.checklist:
        lines += ["", "## Checklist", "", "| item | answer | why |", "| --- | --- | --- |"]
        lines += [
            f"| {safe(one.item)} | {safe(one.answer) or 'not answered'} | "
            f"{safe(one.why)} ({safe(one.source)}) |"
            for one in found.checklist
        ]
    lines += ["", "## The four questions", ""]
    for one in found.answers:
        term, status = wording.TERMS[one.question], wording.STATUSES[one.status]
        headline = words.sentence(one.headline, one.hint)
        lines.append(f"- **{one.title}** ({term}; {status}) {safe(headline, 600)}")
        lines += [f"  - {safe(note, 600)}" for note in one.notes]
    if found.changes:
        lines += ["", "## Original and release", "", "| | original | release |"]
        lines += ["| --- | --- | --- |"]
        lines += [
            f"| {one.measure} | {wording.number(one.before, one.unit)} | "
            f"{wording.number(one.after, one.unit)} |"
            for one in found.changes
        ]
    lines += ["", "## Columns", "", "| column | role | distinct | missing | evidence |"]
    lines += ["| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {safe(one.column, 60)} | {one.role}{' (guessed)' if one.guessed else ''} | "
        f"{one.distinct:,} | {one.missing:,} | {safe(wording.column_evidence(one), 1200)} |"
        for one in found.columns
    ]
    versions = ", ".join(f"{name} {number}" for name, number in found.versions.items())
    lines += ["", f"Seed {found.parameters['seed']}. {versions}. {found.made}", ""]
    return "\n".join(lines)


_NOT_MET = (Status.EXCEEDED, Status.NOT_EVALUATED)


def _summary(found: Assessment, words: Phrasing, findings: Sequence[Finding]) -> list[str]:
    policy = found.policy
    lines = [
        f"# {safe(found.name)}: {wording.head(found).lower()}",
        "",
        f"{wording.records(found)}, {wording.plural(len(found.columns), 'column')}. "
        f"Policy {safe(policy['title'])} ({safe(policy['source'])}, {policy['date']}): "
        f"{wording.outcome(found)}.",
        "",
    ]
    lines += [safe(" ".join((found.explanation, *found.causes)), 1200), ""]
    guessed = wording.guesses(found)
    if guessed:
        lines += [f"**{guessed}**", ""]
    lines += [f"- {safe(words.reason(reason), 600)}" for reason in found.reasons]
    lines += [
        f"- Role against the evidence: {safe(text, 1200)}" for text in wording.overrides(found)
    ]
    if findings:
        lines += ["", "## Findings", "", "| | finding | value | threshold | records | why |"]
        lines += ["| --- | --- | --- | --- | --- | --- |"]
        lines += [_row(one) for one in findings]
    commands = wording.remedies(found, words)
    if commands:
        lines += ["", "## Remedies", ""]
        for command in commands:
            shown = (wording.UNSEEN.sub("", line) for line in command.split("\n"))
            lines += ["```sh" if command.startswith("crypsis ") else "```python", *shown, "```"]
    for text, call in wording.alternatives(found, words):
        lines += ["", f"Alternative: {safe(text, 600)}", ""]
        if call is not None:
            shown = (wording.UNSEEN.sub("", line) for line in call.split("\n"))
            lines += ["```sh" if call.startswith("crypsis ") else "```python", *shown, "```"]
    outcomes = wording.outcomes(found)
    lines += ["", *(f"- {safe(text, 600)}" for text in outcomes)] if outcomes else []
    return lines


def _row(one: Finding) -> str:
    mark = one.severity.value if one.status is Status.EXCEEDED else one.status.value
    cells = (
        mark, safe(one.statement, 600), wording.number(one.value, one.unit), wording.limit(one),
        wording.affected(one), f"{safe(one.why)} ({safe(one.source)})",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"
